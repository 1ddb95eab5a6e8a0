'use strict';
(() => {
  const DATA = JSON.parse(document.getElementById('data').textContent);
  const RUNS = DATA.runs;
  const PAIR = RUNS.length === 2;
  const BESIDE = DATA.beside;
  const RUN_COLORS = ['--run-a', '--run-b'];
  const PHASES = ['decode', 'apply', 'begin_block', 'deliver_tx', 'end_block', 'hash', 'commit', 'other'];
  const CPU_PARTS = [
    ['block_execution', 'execution and hashing', '--apply'], ['commit', 'commit', '--commit'],
    ['compaction', 'compaction', '--compaction'], ['flush', 'flush', '--flush'], ['other', 'other', '--other'],
  ];

  // ---- small helpers ------------------------------------------------------------------------------

  // el('td', {class: 'text'}, 'child', …); text only ever becomes text nodes.
  function el(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
      else if (name === 'style') element.style.cssText = value;
      else element.setAttribute(name, value === true ? '' : value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined) element.append(child);
    }
    return element;
  }
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const phaseColor = (phase) => `var(--${PHASES.includes(phase) || ['compaction', 'flush', 'gc'].includes(phase) ? phase : 'other'})`;
  const at = (object, path) => path.split('/').reduce((o, key) => (o === null || o === undefined ? o : o[key]), object);
  const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const phaseName = (phase) => phase.replace('_', ' ');

  function digits(value, significant = 3) {
    if (value === 0) return '0';
    const magnitude = Math.floor(Math.log10(Math.abs(value)));
    return value.toLocaleString('en-US', {
      minimumFractionDigits: Math.max(0, Math.min(6, significant - 1 - magnitude)),
      maximumFractionDigits: Math.max(0, Math.min(6, significant - 1 - magnitude)),
    });
  }
  const FORMATS = {
    s: (v) => [digits(v, 4), 's'],
    ms: (v) => (Math.abs(v) >= 10000 ? [digits(v / 1000, 4), 's'] : [digits(v, 4), 'ms']),
    count: (v) => [Math.round(v).toLocaleString('en-US'), ''],
    rate: (v) => [digits(v, 4), '/s'],
    factor: (v) => [digits(v, 3), '×'],
    percent: (v) => [digits(v, 3), '%'],
    bytes: (v) => {
      const units = ['B', 'kB', 'MB', 'GB', 'TB'];
      let i = 0;
      while (Math.abs(v) >= 1000 && i < units.length - 1) { v /= 1000; ++i; }
      return [i === 0 ? String(Math.round(v)) : digits(v, 3), units[i]];
    },
    nanoseconds: (v) => (Math.abs(v) >= 1e9 ? [digits(v / 1e9, 3), 's'] : [digits(v / 1e6, 3), 'ms']),
  };
  function format(value, kind) {
    if (!isNumber(value)) return '–';
    const [text, unit] = (FORMATS[kind] || FORMATS.count)(value);
    return unit ? `${text} ${unit}` : text;
  }
  // Fewer is better unless said otherwise.
  function deltaOf(a, b, better = 'less') {
    if (!isNumber(a) || !isNumber(b)) return el('span', {class: 'delta none'}, '–');
    if (a === b) return el('span', {class: 'delta none'}, '±0 %');
    if (a === 0) return el('span', {class: 'delta none'}, 'new');
    const change = (b / a - 1) * 100;
    const good = better === 'none' ? 'none' : (change < 0) === (better === 'less') ? 'good' : 'bad';
    const text = `${change > 0 ? '+' : '−'}${digits(Math.abs(change), 3)} %`;
    return el('span', {class: `delta ${Math.abs(change) < 0.05 ? 'none' : good}`}, text);
  }
  const chip = (text, variable) => el('span', {class: 'chip', style: `--chip: var(${variable})`}, text);
  const runChip = (i) => chip(RUNS[i].name, RUN_COLORS[i]);

  const main = document.getElementById('main');
  const nav = document.getElementById('nav');
  function section(id, title, subtitle, short = title) {
    const element = el('section', {id, 'aria-labelledby': `${id}-title`}, el('h2', {id: `${id}-title`}, title));
    if (subtitle) element.append(el('p', {class: 'sub'}, subtitle));
    nav.append(el('a', {href: `#${id}`}, short));
    main.append(element);
    return element;
  }

  // Columns: {name, kind, text, better, title}; rows: arrays of values (numbers, strings or nodes).
  function table(columns, rows, {sortable = false, caption = null} = {}) {
    const body = el('tbody');
    const fill = (sorted) => body.replaceChildren(...sorted.map((row) => el('tr', {}, row.map((value, i) => {
      const column = columns[i];
      if (value instanceof Node) return el('td', {class: column.text ? 'text' : null}, value);
      if (isNumber(value)) return el('td', {class: value === 0 ? 'zero' : null, 'data-value': String(value)}, format(value, column.kind));
      return el('td', {class: column.text ? 'text' : null}, value === null || value === undefined ? '–' : String(value));
    }))));
    const heads = columns.map((column, i) => {
      if (!sortable || column.unsorted) return el('th', {scope: 'col', class: column.text ? 'text' : null}, column.name);
      const head = el('th', {scope: 'col', class: column.text ? 'text' : null});
      head.append(el('button', {type: 'button', onclick: () => {
        const descending = head.getAttribute('aria-sort') !== 'descending';
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
        const key = (row) => (row[i] instanceof Node ? row[i].textContent : row[i]);
        fill([...rows].sort((x, y) => {
          const [a, b] = [key(x), key(y)];
          const order = isNumber(a) || isNumber(b) ? (isNumber(a) ? a : -Infinity) - (isNumber(b) ? b : -Infinity) : String(a).localeCompare(String(b));
          return descending ? -order : order;
        }));
      }}, column.name));
      return head;
    });
    fill(rows);
    return el('div', {class: 'scroll'}, el('table', {}, caption ? el('caption', {}, caption) : null,
        el('thead', {}, el('tr', {}, heads)), body));
  }

  // ---- theme ---------------------------------------------------------------------------------------

  const redraws = [];
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  let chosenTheme = null;
  function applyTheme() {
    const dark = chosenTheme ? chosenTheme === 'dark' : prefersDark.matches;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    document.getElementById('theme').textContent = dark ? '☀ Light' : '☾ Dark';
    redraws.forEach((redraw) => redraw());
  }
  function toggleTheme() {
    chosenTheme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    applyTheme();
  }
  document.getElementById('theme').addEventListener('click', toggleTheme);
  prefersDark.addEventListener('change', applyTheme);
  document.addEventListener('keydown', (event) => {
    const typing = /^(input|select|textarea)$/i.test(event.target.tagName);
    if (event.key === 't' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) toggleTheme();
    if (event.key === '/' && !typing) {
      const search = document.querySelector('input[type="search"]');
      if (search) { event.preventDefault(); search.focus(); }
    }
  });
  applyTheme();

  // ---- figures --------------------------------------------------------------------------------------

  const writeAmplification = (r) => (at(r, 'change_set/bytes') > 0 ? r.bytes_written / r.change_set.bytes : null);
  const blocksPerSecond = (r) => (r.wall_s > 0 ? r.blocks_measured / r.wall_s : null);
  // name, path or function, format, what is better
  const HEADLINE = [
    ['Wall time', 'wall_s', 's'], ['Blocks per second', blocksPerSecond, 'rate', 'more'],
    ['Block time p50', 'block_ms/p50', 'ms'], ['Block time p90', 'block_ms/p90', 'ms'],
    ['Block time p99', 'block_ms/p99', 'ms'], ['Block time mean', 'block_ms/mean', 'ms'],
    ['Block time stddev', 'block_ms/stddev', 'ms'], ['Block time max', 'block_ms/max', 'ms'],
    ['CPU of the process', 'cpu_s/process', 's'], ['CPU of block execution', 'cpu_s/block_execution', 's'],
    ['CPU of commits', 'cpu_s/commit', 's'], ['CPU of compactions', 'cpu_s/compaction', 's'],
    ['CPU of flushes', 'cpu_s/flush', 's'], ['Instructions', 'instructions', 'count'],
    ['Peak memory', 'peak_rss_bytes', 'bytes'], ['Allocations per block', 'allocations_per_block', 'count'],
    ['Allocated per block', 'allocated_bytes_per_block', 'bytes'], ['Database', 'db_bytes', 'bytes'],
    ['Net writes of the blocks', 'change_set/bytes', 'bytes', 'none'], ['Written to disk', 'bytes_written', 'bytes'],
    ['Write amplification', writeAmplification, 'factor'], ['Read and written by compactions', 'compaction_bytes', 'bytes'],
    ['Stalls', 'stalls', 'count'], ['Time in stalls', 'stall_ms', 'ms'],
  ];
  const figure = (report, path) => (typeof path === 'function' ? path(report) : at(report, path));

  function intro() {
    const first = RUNS[0].report;
    const element = el('section', {class: 'intro', id: 'top'});
    const range = (r) => `blocks ${r.recording.first.toLocaleString('en-US')} to ${r.recording.last.toLocaleString('en-US')}`;
    element.append(el('h1', {}, PAIR ? `${RUNS[0].name} against ${RUNS[1].name}` : `${first.recording.chain_id}, ${range(first)}`));
    element.append(el('div', {class: 'runs'}, RUNS.map(({report: r}, i) => el('div', {class: 'run'},
        runChip(i),
        el('span', {class: `badge ${r.outcome === 'verified' ? 'good' : 'bad'}`},
            r.outcome === 'verified' ? `✓ ${r.blocks_verified.toLocaleString('en-US')} blocks verified` : `✗ ${r.outcome.replaceAll('_', ' ')}`),
        el('span', {}, `${r.recording.chain_id}, ${range(r)}`),
        el('span', {}, `--exec ${at(r, 'options/exec')}, --persist ${at(r, 'options/persist')}, ${at(r, 'options/threads')} threads`),
        el('span', {}, `revision ${r.tool.revision}`),
        el('span', {title: `recording ${r.recording.digest}`}, 'recording ', el('code', {}, r.recording.digest.slice(0, 12))),
        el('span', {}, `${r.host.cpu || 'unknown CPU'}, ${r.host.cores} cores, load ${r.host.loadavg_start ? r.host.loadavg_start[0] : '–'}`)))));
    if (PAIR) {
      const [a, b] = RUNS.map((run) => run.report);
      const problems = [];
      if (a.recording.digest !== b.recording.digest) problems.push('different recordings');
      if (a.recording.first !== b.recording.first || a.recording.last !== b.recording.last) problems.push('different ranges of blocks');
      if (a.app_hash_chain !== b.app_hash_chain) problems.push('different app hashes');
      for (const run of RUNS) if (run.report.outcome !== 'verified') problems.push(`${run.name} is not verified`);
      element.append(el('p', {class: 'note'}, problems.length ? el('span', {class: 'badge bad'}, `not comparable: ${problems.join(', ')}`)
          : 'The same recording and range, and every app hash is the same: the two differ in nothing but what they cost. One run each says little about small differences: use scripts/perf/ab.sh for that.'));
    }
    main.append(element);

    const cards = [['Wall time', 'wall_s', 's'], ['Throughput', blocksPerSecond, 'rate', 'more'],
      ['Block p50', 'block_ms/p50', 'ms'], ['Block p99', 'block_ms/p99', 'ms'], ['Process CPU', 'cpu_s/process', 's'],
      ['Execution CPU', 'cpu_s/block_execution', 's'], ['Compaction CPU', 'cpu_s/compaction', 's'],
      ['Peak memory', 'peak_rss_bytes', 'bytes'], ['Amplification', writeAmplification, 'factor'],
      ...(PAIR ? [['Allocations per block', 'allocations_per_block', 'count']] : [])];
    main.append(el('div', {class: `cards${PAIR ? ' pair' : ''}`}, cards.map(([name, path, kind, better]) => {
      const values = RUNS.map((run) => figure(run.report, path));
      const shown = values[values.length - 1];
      const [text, unit] = isNumber(shown) ? FORMATS[kind](shown) : ['–', ''];
      return el('div', {class: 'card'}, el('div', {class: 'label'}, name),
          el('div', {class: 'value'}, text, unit ? el('small', {}, unit) : null),
          PAIR ? el('div', {class: 'second'}, deltaOf(values[0], values[1], better), el('span', {}, `was ${format(values[0], kind)}`)) : null);
    })));
  }

  function headline() {
    const element = section('headline', 'Headline figures', null, 'Figures');
    const columns = [{name: 'Measured'}, ...RUNS.map((run) => ({name: run.name}))];
    if (PAIR) columns.push({name: 'change'});
    const rows = HEADLINE.map(([name, path, kind, better]) => {
      const values = RUNS.map((run) => figure(run.report, path));
      const cells = values.map((value) => el('span', {'data-figure': typeof path === 'string' ? path : name, 'data-value': isNumber(value) ? String(value) : ''}, format(value, kind)));
      return [name, ...cells, ...(PAIR ? [deltaOf(values[0], values[1], better)] : [])];
    });
    const half = Math.ceil(rows.length / 2);
    element.append(el('div', {class: 'two'}, table(columns, rows.slice(0, half)), table(columns, rows.slice(half))));
  }

  // ---- plots over height ------------------------------------------------------------------------------

  function blocksOf(run) {
    if (!run.blocks) return null;
    const blocks = run.blocks;
    // Later passes have the same heights again: the first one is drawn.
    const count = blocks.pass ? blocks.pass.filter((pass) => pass === blocks.pass[0]).length : blocks.height.length;
    if (count === blocks.height.length) return blocks;
    return Object.fromEntries(Object.entries(blocks).map(([name, column]) => [name, column.slice(0, count)]));
  }
  const percentile = (sorted, percent) => sorted[Math.ceil(sorted.length * percent / 100) - 1];

  // Cuts the rows into at most `wanted` runs of neighbours.
  function bucketsOf(blocks, wanted = 160) {
    const n = blocks.height.length;
    // Percentiles of a block or two say nothing.
    const size = Math.max(n >= 60 ? 5 : 1, Math.ceil(n / wanted));
    const buckets = [];
    for (let begin = 0; begin < n; begin += size) buckets.push([begin, Math.min(n, begin + size)]);
    return buckets;
  }
  const bucketHeights = (blocks, buckets) => buckets.map(([begin, end]) => (blocks.height[begin] + blocks.height[end - 1]) / 2);

  const axisFont = '12px system-ui, sans-serif';
  // "100 ms", not "100.0 ms".
  const tickText = (tick, kind) => (tick === null ? '' : format(tick, kind).replace(/(\.\d*?)0+(?=\s|$)/, '$1').replace(/\.(?=\s|$)/, ''));
  // On a logarithmic scale a line for 1, 2 and 5 of each decade.
  const roundTick = (tick) => (tick !== null && /^[125](\.0*)?e/.test(Number(tick.toPrecision(6)).toExponential()) ? tick : null);
  function axis(kind, log) {
    const lines = {stroke: () => color('--line'), width: 1, ...(log ? {filter: (u, ticks) => ticks.map(roundTick)} : {})};
    return {stroke: () => color('--muted'), grid: lines, ticks: lines, font: axisFont, size: 70, gap: 6, ...(log ? {filter: (u, ticks) => ticks.map(roundTick)} : {}),
      ...(kind === 'count' ? {incrs: [...Array(13).keys()].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power))} : {}),
      values: (u, ticks) => ticks.map((tick) => tickText(tick, kind))};
  }
  const heightAxis = () => ({...axis('count', false), size: 32});

  // One plot: `series` are {label, color, values, kind, …}; x is the height.
  function plot(parent, title, label, x, series, options = {}) {
    const holder = el('div', {class: 'canvas', tabindex: '0', role: 'img', 'aria-label': `${label}. Arrow keys move through it, plus and minus zoom, Escape shows all.`});
    const box = el('div', {class: 'plot'}, el('h3', {}, title, el('span', {class: 'hint'}, 'drag to zoom, double click for all')), holder);
    parent.append(box);
    const data = [x, ...series.map((s) => s.values)];
    const chart = new uPlot({
      width: 600, height: options.height || 260, padding: [10, 12, 0, 0], legend: {live: true, ...(options.legend || {})},
      cursor: {y: false, drag: {x: true, y: false}, sync: options.sync ? {key: options.sync} : undefined, points: {size: 6}},
      scales: {x: {time: false}, y: {distr: options.log ? 3 : 1, range: options.range, auto: true}},
      axes: [heightAxis(), axis(options.kind, options.log)],
      series: [{label: 'height', value: (u, v, si, i) => (i === null || i === undefined ? '' : (options.xText ? options.xText(i) : v.toLocaleString('en-US')))},
        ...series.map((s) => ({label: s.label, stroke: () => color(s.color), fill: s.fill ? () => color(s.color) + (s.fill === true ? '' : s.fill) : undefined,
          width: s.width === undefined ? 1.6 : s.width, points: {show: false}, spanGaps: true, paths: s.paths,
          value: (u, v, si, i) => (i === null || i === undefined ? '' : format(s.shown ? s.shown[i] : v, s.kind || options.kind))}))],
      bands: options.bands,
      hooks: {draw: options.draw ? [options.draw] : [], ...(options.drawClear ? {drawClear: [options.drawClear]} : {})},
    }, data, holder);
    const fit = () => chart.setSize({width: Math.max(280, holder.clientWidth), height: options.height || 260});
    new ResizeObserver(fit).observe(holder);
    redraws.push(() => chart.redraw(false));
    let index = null;
    holder.addEventListener('keydown', (event) => {
      const scale = chart.scales.x;
      const span = scale.max - scale.min;
      const to = (min, max) => chart.setScale('x', {min: Math.max(x[0], min), max: Math.min(x[x.length - 1], max)});
      const center = index === null ? (scale.min + scale.max) / 2 : x[index];
      const moves = {ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -x.length, End: x.length};
      if (event.key in moves) {
        index = Math.min(x.length - 1, Math.max(0, (index === null ? -1 : index) + moves[event.key]));
        if (x[index] < scale.min || x[index] > scale.max) to(x[index] - span / 2, x[index] + span / 2);
        chart.setCursor({left: chart.valToPos(x[index], 'x'), top: 10});
      } else if (event.key === '+' || event.key === '=') to(center - span / 4, center + span / 4);
      else if (event.key === '-') to(center - span, center + span);
      else if (event.key === 'Escape') to(x[0], x[x.length - 1]);
      else return;
      event.preventDefault();
    });
    return chart;
  }

  const plotRuns = RUNS.map((run, i) => ({i, run, blocks: blocksOf(run)})).filter(({blocks}) => blocks && blocks.height.length > 1);
  const pairClass = () => `plots${plotRuns.length === 2 ? ' pair' : ''}`;
  const titleOf = (text, i) => el('span', {}, PAIR ? runChip(i) : null, PAIR ? ` ${text}` : text);
  const maxOf = (values) => values.reduce((a, b) => (b > a ? b : a), -Infinity);
  const minOf = (values) => values.reduce((a, b) => (b < a ? b : a), Infinity);

  function blockTimes() {
    const element = section('blocks', 'Block time over height',
        'Every dot is a block; the lines are percentiles of neighbouring blocks (nearest rank). Below, the mean of each phase, stacked.', 'Block time');
    if (!plotRuns.length) return void element.append(el('p', {class: 'note'}, 'No rows of blocks: replay with --csv FILE, or with --html directly.'));
    for (const {run, blocks} of plotRuns.filter(({run}) => run.blocks_left_out > 0)) {
      element.append(el('p', {class: 'note'}, `${run.name}: rows after height ${blocks.height.at(-1).toLocaleString('en-US')} are not drawn: `
          + `${run.blocks_left_out.toLocaleString('en-US')} of them. Plot a shard, or the CSV, to see them.`));
    }
    const prepared = plotRuns.map(({i, blocks}) => {
      const buckets = bucketsOf(blocks, PAIR ? 110 : 180);
      const times = buckets.map(([begin, end]) => blocks.block_ms.slice(begin, end).sort((a, b) => a - b));
      const phases = PHASES.filter((phase) => maxOf(blocks[`${phase}_ms`]) > 0);
      const means = phases.map((phase) => buckets.map(([begin, end]) => sum(blocks[`${phase}_ms`].slice(begin, end)) / (end - begin)));
      return {i, blocks, buckets, x: bucketHeights(blocks, buckets), times, phases, means,
        xText: (b) => `${blocks.height[buckets[b][0]].toLocaleString('en-US')} to ${blocks.height[buckets[b][1] - 1].toLocaleString('en-US')}`};
    });
    const low = minOf(prepared.map((p) => minOf(p.blocks.block_ms.filter((v) => v > 0))));
    const high = maxOf(prepared.map((p) => maxOf(p.blocks.block_ms)));
    const lines = el('div', {class: pairClass()});
    const stacks = el('div', {class: pairClass(), style: 'margin-top: 1.2rem'});
    element.append(lines, stacks);
    // A few blocks that wait for a flush can be a hundred times as slow: they would press all others
    // to the ground.
    const totals = prepared.flatMap((p) => p.buckets.map((_, b) => sum(p.means.map((mean) => mean[b])))).sort((a, b) => a - b);
    const most = totals[totals.length - 1];
    const usual = 1.6 * percentile(totals, 95);
    let cut = usual > 0 && most > 2 * usual;
    const range = () => [0, (cut ? usual : most) * 1.05 || 1];
    const drawn = [];
    const button = el('button', {type: 'button', 'aria-pressed': 'false', onclick: () => {
      cut = !cut;
      button.textContent = cut ? 'Show peaks whole' : 'Cut peaks off';
      drawn.forEach((chart) => chart.redraw(true, true));
    }}, 'Show peaks whole');
    for (const p of prepared) {
      const dots = (u) => {
        const {ctx} = u;
        const {left, top, width, height} = u.bbox;
        ctx.save();
        ctx.beginPath(); ctx.rect(left, top, width, height); ctx.clip();
        ctx.fillStyle = color(RUN_COLORS[p.i]);
        ctx.globalAlpha = p.blocks.height.length > 5000 ? 0.25 : 0.5;
        const size = 2.4 * devicePixelRatio;
        for (let k = 0; k < p.blocks.height.length; ++k) {
          const h = p.blocks.height[k];
          if (h < u.scales.x.min || h > u.scales.x.max || p.blocks.block_ms[k] <= 0) continue;
          ctx.fillRect(u.valToPos(h, 'x', true) - size / 2, u.valToPos(p.blocks.block_ms[k], 'y', true) - size / 2, size, size);
        }
        ctx.restore();
      };
      plot(lines, titleOf('Percentiles', p.i), `Percentiles of block times of ${RUNS[p.i].name} over height`, p.x,
          [['p50', 50, '--deliver_tx'], ['p90', 90, '--end_block'], ['p99', 99, '--commit']].map(([label, percent, variable]) => (
            {label, color: variable, values: p.times.map((times) => percentile(times, percent)), width: 2})),
          {kind: 'ms', log: true, range: () => [low * 0.8, high * 1.3], drawClear: dots, sync: 'height', xText: p.xText, height: 300});
      // uPlot paints in order: the highest sum first, so that each next one covers it from below.
      const sums = [];
      p.means.forEach((mean, k) => sums.push(mean.map((v, b) => v + (k ? sums[k - 1][b] : 0))));
      const order = p.phases.map((_, k) => p.phases.length - 1 - k);
      drawn.push(plot(stacks, titleOf('Phases, mean per block', p.i), `Mean time of each phase of ${RUNS[p.i].name} over height`, p.x,
          order.map((k) => ({label: phaseName(p.phases[k]), color: `--${p.phases[k]}`, values: sums[k], shown: p.means[k], fill: true, width: 0})),
          {kind: 'ms', sync: 'height', xText: p.xText, range}));
    }
    if (cut) element.append(el('div', {class: 'controls', style: 'margin: .6rem 0 0'}, button, el('span', {class: 'sub'}, `Peaks above ${format(usual, 'ms')} are cut off; the highest is ${format(most, 'ms')}.`)));
  }

  // ---- CPU ------------------------------------------------------------------------------------------

  function stackBar(parts, total) {
    return el('div', {class: 'stack', role: 'img', 'aria-label': parts.map((p) => `${p.name} ${p.text}`).join(', ')},
        parts.filter((p) => p.value > 0).map((p) => el('span', {style: `flex: ${p.value / total} 0 0; background: ${p.color}`, title: `${p.name}: ${p.text} (${digits(100 * p.value / total, 3)} %)`},
            p.value / total > 0.09 ? el('i', {}, p.name) : '')));
  }

  function cpu() {
    const element = section('cpu', 'CPU and phases',
        'CPU time of the process by what it was used for, from clocks of the threads; and the time of the thread that drives the replay, by phase. Commits, compactions and flushes overlap with execution.', 'CPU');
    const scale = Math.max(...RUNS.map((run) => run.report.cpu_s.process)) || 1;
    const two = el('div', {class: 'two'});
    const left = el('div', {}, el('h3', {}, 'CPU of the process'));
    for (const [i, {report}] of RUNS.entries()) {
      const parts = CPU_PARTS.map(([key, name, variable]) => ({name, value: Math.max(0, report.cpu_s[key]), text: format(report.cpu_s[key], 's'), color: `var(${variable})`}));
      left.append(el('div', {class: 'stackrow'}, runChip(i), el('div', {style: `width: ${100 * report.cpu_s.process / scale}%`}, stackBar(parts, sum(parts.map((p) => p.value)) || 1))));
    }
    left.append(table([{name: ''}, ...RUNS.flatMap((run) => [{name: run.name, kind: 's'}, {name: 'share'}]), ...(PAIR ? [{name: 'change'}] : [])],
        [...CPU_PARTS, ['process', 'process', null]].map(([key, name, variable]) => [variable ? chip(name, variable) : el('b', {}, name),
          ...RUNS.flatMap(({report}) => [report.cpu_s[key], `${digits(100 * report.cpu_s[key] / (report.cpu_s.process || 1), 3)} %`]),
          ...(PAIR ? [deltaOf(RUNS[0].report.cpu_s[key], RUNS[1].report.cpu_s[key])] : [])])));
    const right = el('div', {}, el('h3', {}, 'Wall time by phase'));
    const wall = Math.max(...RUNS.map(({report}) => sum(Object.values(report.phase_ms)))) || 1;
    for (const [i, {report}] of RUNS.entries()) {
      const parts = PHASES.map((phase) => ({name: phaseName(phase), value: report.phase_ms[phase], text: format(report.phase_ms[phase], 'ms'), color: phaseColor(phase)}));
      const total = sum(parts.map((p) => p.value)) || 1;
      right.append(el('div', {class: 'stackrow'}, runChip(i), el('div', {style: `width: ${100 * total / wall}%`}, stackBar(parts, total))));
    }
    right.append(table([{name: ''}, ...RUNS.flatMap((run) => [{name: run.name, kind: 'ms'}, {name: 'share'}]), ...(PAIR ? [{name: 'change'}] : [])],
        PHASES.filter((phase) => RUNS.some(({report}) => report.phase_ms[phase] > 0)).map((phase) => [chip(phaseName(phase), `--${phase}`),
          ...RUNS.flatMap(({report}) => [report.phase_ms[phase], `${digits(100 * report.phase_ms[phase] / (sum(Object.values(report.phase_ms)) || 1), 3)} %`]),
          ...(PAIR ? [deltaOf(RUNS[0].report.phase_ms[phase], RUNS[1].report.phase_ms[phase])] : [])])));
    two.append(left, right);
    element.append(two);
  }

  // ---- memory and database ------------------------------------------------------------------------------

  function overHeight(element, plots) {
    // One run: plots two by two. Two runs: a row for each plot.
    const together = el('div', {class: 'plots pair', style: 'margin-top: 1rem'});
    if (plotRuns.length === 1) element.append(together);
    for (const {title, kind, columns, bucket, range} of plots) {
      const holder = plotRuns.length === 1 ? together : el('div', {class: pairClass(), style: 'margin-top: 1rem'});
      if (holder !== together) element.append(holder);
      const prepared = plotRuns.map(({i, blocks}) => {
        const buckets = bucketsOf(blocks, PAIR ? 110 : 180);
        return {i, buckets, blocks, x: bucketHeights(blocks, buckets),
          series: columns.map((column) => ({...column, values: bucket(blocks, buckets, column)}))};
      });
      const max = Math.max(...prepared.flatMap((p) => p.series.map((s) => maxOf(s.values.filter(isNumber)))));
      for (const p of prepared) {
        plot(holder, titleOf(title, p.i), `${title} of ${RUNS[p.i].name} over height`, p.x, p.series,
            {kind, sync: 'height', height: 220, range: range || (() => [0, max > 0 ? max * 1.08 : 1]),
              xText: (b) => `${p.blocks.height[p.buckets[b][0]].toLocaleString('en-US')} to ${p.blocks.height[p.buckets[b][1] - 1].toLocaleString('en-US')}`});
      }
    }
  }
  const bucketLast = (blocks, buckets, {name}) => buckets.map(([, end]) => blocks[name][end - 1]);
  const bucketMax = (blocks, buckets, {name}) => buckets.map(([begin, end]) => maxOf(blocks[name].slice(begin, end)));
  const bucketMean = (blocks, buckets, {name}) => buckets.map(([begin, end]) => sum(blocks[name].slice(begin, end)) / (end - begin));
  function bucketAmplification(blocks, buckets) {
    let written = 0;
    let asked = 0;
    return buckets.map(([begin, end]) => {
      written += sum(blocks.bytes_written.slice(begin, end));
      asked += sum(blocks.change_set_bytes.slice(begin, end));
      return asked > 0 ? written / asked : null;
    });
  }

  function figuresRow(items) {
    return el('div', {class: 'keys'}, items.map(([name, path, kind]) => el('span', {}, `${name} `,
        RUNS.map(({report}, i) => el('b', {style: PAIR ? `color: var(${RUN_COLORS[i]})` : 'color: var(--text)'}, `${i ? ' · ' : ''}${format(figure(report, path), kind)}`)))));
  }

  function memory() {
    const element = section('memory', 'Memory over time', 'Resident memory after each block, and what the blocks allocated (freed or not).', 'Memory');
    element.append(figuresRow([['Peak', 'peak_rss_bytes', 'bytes'], ['allocations per block', 'allocations_per_block', 'count'], ['allocated per block', 'allocated_bytes_per_block', 'bytes']]));
    if (!plotRuns.length) return;
    overHeight(element, [
      {title: 'Resident memory', kind: 'bytes', bucket: bucketMax, columns: [{name: 'rss_bytes', label: 'resident', color: '--apply', fill: '22'}]},
      {title: 'Allocated per block', kind: 'bytes', bucket: bucketMean, columns: [{name: 'allocated_bytes', label: 'allocated', color: '--hash', fill: '22'}]},
    ]);
  }

  function database() {
    const element = section('database', 'RocksDB: stalls and write amplification',
        'Write amplification is what log, flushes and compactions wrote, over the keys and values of the net writes of the blocks. Flushes and compactions come when they are due, not for the block at hand.', 'Database');
    element.append(figuresRow([['Write amplification', writeAmplification, 'factor'], ['written', 'bytes_written', 'bytes'], ['net writes', 'change_set/bytes', 'bytes'],
      ['compactions read and wrote', 'compaction_bytes', 'bytes'], ['database', 'db_bytes', 'bytes'], ['stalls', 'stalls', 'count'], ['held back for', 'stall_ms', 'ms'], ['seek compactions', 'seek_compactions', 'count']]));
    if (!plotRuns.length) return;
    overHeight(element, [
      {title: 'Written per block', kind: 'bytes', bucket: bucketMean, columns: [
        {name: 'bytes_written', label: 'log, flushes and compactions', color: '--commit', fill: '22'}, {name: 'change_set_bytes', label: 'net writes', color: '--deliver_tx'}]},
      {title: 'Write amplification so far', kind: 'factor', bucket: bucketAmplification, columns: [{label: 'amplification', color: '--compaction', fill: '22'}]},
      {title: 'Tables in level 0, and time held back by stalls', kind: 'count', bucket: bucketMax, columns: [
        {name: 'l0_files', label: 'tables in level 0', color: '--apply', width: 1.6}, {name: 'stall_ms', label: 'stall', kind: 'ms', color: '--gc'}]},
    ]);
  }

  // ---- slow blocks, stores, messages ------------------------------------------------------------------

  const countList = (counts, limit = 6) => {
    const sorted = Object.entries(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const shown = sorted.slice(0, limit).flatMap(([name, count], k) => [k ? ', ' : '', el('b', {}, count.toLocaleString('en-US')), ` ${name}`]);
    return sorted.length > limit ? [...shown, `, ${sorted.length - limit} more`] : shown;
  };

  function slowest() {
    const element = section('slowest', 'Slowest blocks', 'What took the time, and what was in them.', 'Slow blocks');
    for (const [i, {report}] of RUNS.entries()) {
      if (PAIR) element.append(el('h3', {style: i ? 'margin-top: 1.2rem' : ''}, runChip(i)));
      const blocks = report.slowest_blocks || [];
      if (!blocks.length) { element.append(el('p', {class: 'note'}, 'The report does not list them.')); continue; }
      const longest = blocks[0].block_ms;
      const rows = blocks.slice(0, PAIR ? 8 : 12).map((block) => {
        const parts = PHASES.map((phase) => ({name: phaseName(phase), value: block.phase_ms[phase], text: format(block.phase_ms[phase], 'ms'), color: phaseColor(phase)}));
        const writes = Object.fromEntries(Object.entries(block.stores).map(([name, store]) => [name, store.sets + store.deletes]));
        const bytes = sum(Object.values(block.stores).map((store) => store.bytes));
        return [block.height, block.block_ms,
          el('div', {style: `width: ${Math.max(12, 100 * block.block_ms / longest)}%`}, stackBar(parts, sum(parts.map((p) => p.value)) || 1)), block.txs,
          el('div', {class: 'contents'}, block.txs ? [el('div', {}, Object.keys(block.transactions).length ? countList(block.transactions) : 'transactions of unknown kinds')] : [el('div', {}, 'no transactions')],
              el('div', {}, 'writes: ', countList(writes), ` (${format(bytes, 'bytes')})`))];
      });
      element.append(el('div', {class: 'slow'}, table([{name: 'height', kind: 'count'}, {name: 'time', kind: 'ms'}, {name: 'phases', text: true, unsorted: true}, {name: 'txs', kind: 'count'}, {name: 'contents', text: true, unsorted: true}], rows, {sortable: true})));
    }
    element.append(el('div', {class: 'keys'}, PHASES.filter((phase) => RUNS.some(({report}) => report.phase_ms[phase] > 0)).map((phase) => chip(phaseName(phase), `--${phase}`))));
  }

  // Sums of a profile's samples by a label, null without such a profile.
  function byLabel(run, type, label) {
    for (const profile of run.profiles) {
      const index = profile.types.findIndex((t) => t.type === type);
      if (index < 0) continue;
      const stride = 2 + profile.types.length;
      const sums = {};
      for (let k = 0; k < profile.samples.length; k += stride) {
        const name = profile.labels[profile.samples[k + 1]][label];
        if (name !== undefined) sums[name] = (sums[name] || 0) + profile.samples[k + 2 + index];
      }
      return Object.keys(sums).length ? sums : null;
    }
    return null;
  }
  const shareBar = (value, max, variable) => el('span', {class: 'minibar', style: `--bar: var(${variable}); width: ${max > 0 ? Math.round(100 * value / max) : 0}px`});

  function stores() {
    const names = [...new Set(RUNS.flatMap(({report}) => Object.keys(report.stores || {})))];
    const element = section('stores', 'Cost per store', 'Net writes of the measured blocks, and CPU and allocations from the profiles of the run (label store), where there are any.', 'Stores');
    if (!names.length) return void element.append(el('p', {class: 'note'}, 'The report does not list stores.'));
    const cpus = RUNS.map((run) => byLabel(run, 'cpu', 'store'));
    const allocated = RUNS.map((run) => byLabel(run, 'alloc_space', 'store'));
    const columns = [{name: 'store'}, {name: 'sets', kind: 'count'}, {name: 'deletes', kind: 'count'}, {name: 'bytes', kind: 'bytes'}, {name: '', text: true, unsorted: true}];
    RUNS.forEach((run, i) => {
      if (cpus[i]) columns.push({name: PAIR ? `CPU ${run.name}` : 'CPU', kind: 'nanoseconds'});
      if (allocated[i]) columns.push({name: PAIR ? `allocated ${run.name}` : 'allocated', kind: 'bytes'});
    });
    const bytesOf = (name) => at(RUNS[0].report, 'stores')?.[name]?.bytes ?? 0;
    const most = Math.max(...names.map(bytesOf));
    const rows = names.sort((a, b) => bytesOf(b) - bytesOf(a)).map((name) => {
      const store = at(RUNS[0].report, 'stores')?.[name] || {sets: 0, deletes: 0, bytes: 0};
      const row = [name, store.sets, store.deletes, store.bytes, shareBar(store.bytes, most, '--run-a')];
      RUNS.forEach((run, i) => {
        if (cpus[i]) row.push(cpus[i][name] || 0);
        if (allocated[i]) row.push(allocated[i][name] || 0);
      });
      return row;
    });
    element.append(table(columns, rows, {sortable: true}));
  }

  function messages() {
    const element = section('messages', 'Cost per message type', null, 'Messages');
    const kinds = [...new Set(RUNS.flatMap(({report}) => Object.keys(at(report, 'execution/by_kind') || {})))];
    const cpus = RUNS.map((run) => byLabel(run, 'cpu', 'msg_type'));
    const allocated = RUNS.map((run) => byLabel(run, 'alloc_space', 'msg_type'));
    if (!kinds.length && !cpus.some(Boolean)) {
      return void element.append(el('p', {class: 'note'}, 'Only recorded writes were applied (--exec apply), so no message was executed. Replay with --exec verify to see what each type of message costs.'));
    }
    element.append(el('p', {class: 'sub'}, 'Phases that native code executed, with the wall time that it took; CPU and allocations from the profiles (label msg_type).'));
    const plain = (kind) => kind.replace(/ \(failed\)$/, '');
    const all = [...new Set([...kinds.map(plain), ...cpus.flatMap((c) => Object.keys(c || {}))])];
    for (const [i, {report}] of RUNS.entries()) {
      if (PAIR) element.append(el('h3', {style: i ? 'margin-top: 1.2rem' : ''}, runChip(i)));
      const time = at(report, 'execution/ms_by_kind') || {};
      const count = {};
      const matched = {};
      for (const [kind, row] of Object.entries(at(report, 'execution/by_kind') || {})) {
        count[plain(kind)] = (count[plain(kind)] || 0) + row.native;
        matched[plain(kind)] = (matched[plain(kind)] || 0) + row.matched;
      }
      const most = Math.max(0, ...Object.values(time));
      const rows = all.filter((kind) => count[kind] || (cpus[i] && cpus[i][kind])).sort((a, b) => (time[b] || 0) - (time[a] || 0)).map((kind) => {
        const row = [kind, count[kind] || 0, matched[kind] || 0, time[kind] ?? null, time[kind] && count[kind] ? time[kind] / count[kind] : null, shareBar(time[kind] || 0, most, RUN_COLORS[i])];
        if (cpus[i]) row.push(cpus[i][kind] || 0);
        if (allocated[i]) row.push(allocated[i][kind] || 0);
        return row;
      });
      const columns = [{name: 'kind'}, {name: 'executed', kind: 'count'}, {name: 'matched', kind: 'count'}, {name: 'time', kind: 'ms'}, {name: 'each', kind: 'ms'}, {name: '', text: true, unsorted: true}];
      if (cpus[i]) columns.push({name: 'CPU', kind: 'nanoseconds'});
      if (allocated[i]) columns.push({name: 'allocated', kind: 'bytes'});
      element.append(table(columns, rows, {sortable: true}));
    }
  }

  // ---- beside a node ------------------------------------------------------------------------------------

  function beside() {
    if (!BESIDE) return;
    const element = section('beside', `Beside ${BESIDE.name}`,
        'The same phases of this replay and of a node. A node’s profile has no labels of ours: its samples are sorted by the functions on their stacks. Shares compare even where ranges and machines differ.', 'Beside');
    const run = RUNS[RUNS.length - 1];
    const figures = BESIDE.figures;
    // A profiled value of both sides by phase, with wall times where `walls` has them of the node.
    const phaseTable = (type, what, kind, walls) => {
      const sides = [run, BESIDE].map(({name, profiles}) => {
        const phases = profiles.map((profile) => profile.phases[type]).find(Boolean);
        return {name, phases, total: phases ? sum(Object.values(phases)) : 0};
      }).filter((side) => side.phases);
      const labelled = sides.flatMap((side) => Object.keys(side.phases));
      const names = [...PHASES, 'compaction', 'flush', 'gc'];
      names.push(...labelled.filter((name) => !names.includes(name)), 'other');
      const columns = [{name: 'phase'}];
      if (walls) columns.push({name: `${run.name}: wall`, kind: 'ms'}, {name: `${BESIDE.name}: wall`, kind: 'ms'});
      for (const side of sides) columns.push({name: `${side.name}: ${what}`, kind}, {name: 'share', kind: 'percent'});
      if (sides.length === 2) columns.push({name: 'times as much', kind: 'factor'});
      const row = (head, times, values) => {
        const cells = walls ? [head, ...times] : [head];
        values.forEach((value, i) => cells.push(value, sides[i].total ? 100 * value / sides[i].total : null));
        if (sides.length === 2) cells.push(values[0] > 0 && values[1] > 0 ? values[1] / values[0] : null);
        return cells;
      };
      const rows = names.filter((name, i) => names.lastIndexOf(name) === i)
          .map((name) => row(chip(phaseName(name), PHASES.includes(name) || color(`--${name}`) ? `--${name}` : '--other'),
              walls ? [run.report.phase_ms[name] ?? null, walls[name] ?? null] : [], sides.map((side) => side.phases[name] || 0)))
          .filter((cells) => cells.slice(1).some((value) => isNumber(value) && value > 0));
      rows.push(row(el('b', {}, 'all'), walls ? [run.report.phase_ms, walls].map((of) => sum(Object.values(of).filter(isNumber))) : [], sides.map((side) => side.total)));
      return table(columns, rows);
    };
    const has = (type) => BESIDE.profiles.some((profile) => profile.phases[type]);
    const walls = figures && figures.phase_ms;
    if (has('cpu') || walls) element.append(phaseTable('cpu', 'CPU', 'nanoseconds', walls));
    if (has('alloc_space')) element.append(el('h3', {style: 'margin-top: 1.2rem'}, 'Allocated by phase'), phaseTable('alloc_space', 'allocated', 'bytes', null));
    if (!figures && !has('cpu') && !has('alloc_space')) element.append(el('p', {class: 'note'}, 'Its profile has neither CPU time nor allocations: see it in the flame graph.'));
    if (!figures) return;
    const flat = [];
    const walk = (value, path) => {
      if (isNumber(value)) flat.push([path, value]);
      else if (value && typeof value === 'object' && !Array.isArray(value)) for (const [key, inner] of Object.entries(value)) walk(inner, path ? `${path}/${key}` : key);
    };
    walk(figures, '');
    const kindOf = (path) => (/_ms(\/|$)|^block_ms/.test(path) ? 'ms' : /_s(\/|$)/.test(path) ? 's' : /bytes/.test(path) ? 'bytes' : 'count');
    const known = Object.fromEntries(HEADLINE.filter(([, path]) => typeof path === 'string').map(([name, path]) => [path, name]));
    element.append(el('h3', {style: 'margin-top: 1.2rem'}, 'Figures'), table([{name: ''}, {name: run.name}, {name: BESIDE.name}, {name: 'times as much'}],
        flat.filter(([path]) => !path.startsWith('phase_ms/')).map(([path, value]) => {
          const mine = at(run.report, path === 'blocks' ? 'blocks_measured' : path);
          return [known[path] || path.replaceAll('/', ', ').replaceAll('_', ' '), isNumber(mine) ? format(mine, kindOf(path)) : '–', format(value, kindOf(path)),
            isNumber(mine) && mine > 0 ? `${digits(value / mine, 3)} ×` : '–'];
        })));
  }

  // ---- flame graph ----------------------------------------------------------------------------------------

  // "blockreplay::storage::iavl::Editor::Set(…)" as "storage::iavl::Editor::Set".
  function shortName(name) {
    let depth = 0;
    let out = '';
    const plain = name.replaceAll('(anonymous namespace)', '').replaceAll('operator()', 'operator‹›').replace(/operator(<<?|>>?|->)/, 'operator');
    // Go: of the package's path the last element, with "v2" and the like the one before. Receivers, in parentheses, stay.
    const path = plain.match(/^[^(\[{\s]*/)[0];
    if (/^[\w.~%-]+(\/[\w.~%-]+)+$/.test(path) || /^[\w.~%/-]+\.\(\*/.test(plain)) {
      return plain.slice(path.match(/^(?:.*\/)?(?=[^/]+\/v\d+\.)|^.*\/|^/)[0].length).replace(/\[.*\]/, '[…]');
    }
    for (const c of plain) {
      if (c === '<' || c === '(' || c === '[' && out) ++depth;
      else if (c === '>' || c === ')' || c === ']' && depth) depth = Math.max(0, depth - 1);
      else if (!depth) out += c;
    }
    out = out.replace('operator‹›', 'operator()').replace(/\s+const$/, '').replace(/^.*\s(?=[\w:~]+$)/, '').replaceAll('blockreplay::', '').replaceAll('::::', '::').trim();
    return out || name;
  }

  const FAMILIES = [
    ['label', 'label', '#b9a7e8', () => false],
    ['own', 'blockreplay', '#f2b36b', (n) => /blockreplay::/.test(n)],
    ['db', 'RocksDB, LevelDB', '#7fc7bd', (n) => /rocksdb|leveldb/i.test(n)],
    ['codec', 'Protobuf, compression, hashes', '#9dbff0', (n) => /protobuf|zstd|lz4|snappy|libz|crypto|sha256|ZSTD|HUF_|inflate|deflate/i.test(n)],
    ['alloc', 'memory', '#ef9a94', (n) => /alloc|operator new|operator delete|^free$|memcpy|memmove|memset|memcmp|runtime\.(gc|mallocgc|scan|bgsweep)/i.test(n)],
    ['go', 'node', '#ecd27a', (n) => /^[\w.-]+\.[\w-]+\/|^runtime\.|^main\./.test(n)],
    ['rest', 'other', '#c3c9d1', () => true],
  ];
  const familyColor = (name) => FAMILIES.find(([, , , matches]) => matches(name))[2];

  // The samples as a tree of {name, value, self, delta, children}; keys are labels that become roots.
  function treeOf(profile, type, keys, focus = null) {
    const stride = 2 + profile.types.length;
    const root = {name: 'all', value: 0, children: new Map()};
    const paths = new Map();
    const pathOf = (node) => {
      let path = paths.get(node);
      if (!path) {
        path = [];
        for (let k = node; k >= 0; k = profile.nodes[2 * k]) path.push(profile.nodes[2 * k + 1]);
        path.reverse();
        paths.set(node, path);
      }
      return path;
    };
    for (let k = 0; k < profile.samples.length; k += stride) {
      const value = profile.samples[k + 2 + type];
      if (!value) continue;
      const labels = profile.labels[profile.samples[k + 1]];
      let node = root;
      node.value += value;
      const enter = (name, label) => {
        let child = node.children.get(name);
        if (!child) node.children.set(name, child = {name, label, value: 0, children: new Map()});
        child.value += value;
        node = child;
      };
      for (const key of keys) enter(`${key}: ${labels[key] === undefined ? 'none' : labels[key]}`, true);
      for (const id of pathOf(profile.samples[k])) enter(profile.functions[id], false);
    }
    return root;
  }
  // Merges two trees: value is the one of `shown`, delta what changed in the frame with its callees.
  function diffTree(before, after, width) {
    const merge = (a, b, name, label) => {
      const names = new Set([...(a ? a.children.keys() : []), ...(b ? b.children.keys() : [])]);
      const value = width === 'after' ? (b ? b.value : 0) : (a ? a.value : 0);
      const node = {name, label, value, before: a ? a.value : 0, after: b ? b.value : 0, children: []};
      for (const child of names) {
        const [x, y] = [a && a.children.get(child), b && b.children.get(child)];
        const merged = merge(x, y, child, (x || y).label);
        if (merged.value > 0) node.children.push(merged);
      }
      return node;
    };
    return merge(before, after, 'all', false);
  }
  function plainTree(node) {
    return {name: node.name, label: node.label, value: node.value, children: [...node.children.values()].filter((c) => c.value > 0).map(plainTree)};
  }
  function sortTree(node) {
    node.children.sort((a, b) => b.value - a.value);
    node.children.forEach(sortTree);
    return node;
  }

  function flames() {
    const element = section('flame', PAIR ? 'Flame graphs, and what changed' : 'Flame graph', null, 'Flame graph');
    const sources = [];
    RUNS.forEach((run, i) => run.profiles.forEach((profile) => sources.push({name: PAIR ? `${run.name}: ${profile.name}` : profile.name, profile, run: i})));
    if (BESIDE) BESIDE.profiles.forEach((profile) => sources.push({name: profile.name, profile}));
    if (!sources.length) return void element.append(el('p', {class: 'note'}, 'No profile: replay with --cpu-profile FILE, --heap-profile FILE or --wall-profile FILE.'));
    if (PAIR) {
      for (const profile of RUNS[1].profiles.slice().reverse()) {
        const same = RUNS[0].profiles.find((other) => other.types.map((t) => t.type).join() === profile.types.map((t) => t.type).join());
        if (same) sources.unshift({name: `change, ${RUNS[0].name} to ${RUNS[1].name}: ${profile.types[profile.default].type}`, before: same, profile});
      }
    }
    element.append(el('p', {class: 'sub'}, 'Width is cost, depth is the call stack. Click or press Enter to zoom, arrow keys move from frame to frame, Escape shows all, / searches.'));
    const option = (value, text) => el('option', {value}, text);
    const source = el('select', {id: 'flame-source'}, sources.map((s, i) => option(i, s.name)));
    const type = el('select', {id: 'flame-type'});
    const root = el('select', {id: 'flame-root'});
    const width = el('select', {id: 'flame-width'}, option('after', 'after'), option('before', 'before'));
    const search = el('input', {type: 'search', id: 'flame-search', placeholder: 'function or label', 'aria-describedby': 'flame-found'});
    const reset = el('button', {type: 'button'}, 'Show all');
    const widthLabel = el('label', {}, 'Width', width);
    const found = el('span', {class: 'sub', id: 'flame-found', 'aria-live': 'polite'});
    const holder = el('div', {class: 'flame', tabindex: '0', role: 'application', 'aria-label': 'Flame graph', 'aria-describedby': 'flame-details'});
    const details = el('div', {class: 'details', id: 'flame-details', 'aria-live': 'polite'});
    const keys = el('div', {class: 'keys'});
    element.append(el('div', {class: 'controls'}, el('label', {}, 'Profile', source), el('label', {}, 'Value', type), el('label', {}, 'At the root', root), widthLabel,
        el('label', {}, 'Search', search), reset, found), keys, holder, details);

    let chart = null;
    let chosen = null;
    let unit = 'count';
    let diff = false;
    let total = 0;

    const describe = (d) => {
      if (!d) return details.replaceChildren();
      const share = total ? ` (${digits(100 * d.data.value / total, 3)} % of all)` : '';
      const lines = [el('div', {class: 'mono'}, d.data.name)];
      if (diff) {
        const change = d.data.after - d.data.before;
        lines.push(el('div', {}, `${format(d.data.before, unit)} before, ${format(d.data.after, unit)} after: ${change > 0 ? '+' : change < 0 ? '−' : '±'}${format(Math.abs(change), unit)}`,
            d.data.before > 0 ? ` (${change >= 0 ? '+' : '−'}${digits(Math.abs(100 * change / d.data.before), 3)} %)` : ' (new)'));
      } else {
        const self = d.data.value - sum((d.data.children || []).map((c) => c.value));
        lines.push(el('div', {}, `${format(d.data.value, unit)}${share}, itself ${format(self, unit)}`));
      }
      details.replaceChildren(...lines);
    };
    const colorOf = (d) => {
      if (d.highlight) return '#e85bd2';
      if (diff) {
        const change = d.data.after - d.data.before;
        const strength = Math.min(1, Math.abs(change) / (0.1 * total || 1));
        if (Math.abs(change) < total * 1e-4) return '#d9dde2';
        const light = 90 - 30 * Math.sqrt(strength);
        return change > 0 ? `hsl(14 85% ${light}%)` : `hsl(214 80% ${light}%)`;
      }
      if (d.depth === 0) return '#c3c9d1';
      return d.data.label ? FAMILIES[0][2] : familyColor(d.data.name);
    };
    const mark = (d) => {
      chosen = d;
      d3.select(holder).selectAll('g.frame').classed('chosen', (other) => other === chosen);
      describe(chosen);
      const node = d3.select(holder).selectAll('g.frame').filter((other) => other === chosen).node();
      if (node) {
        const y = d.depth * 18;
        if (y < holder.scrollTop) holder.scrollTop = y;
        if (y + 18 > holder.scrollTop + holder.clientHeight) holder.scrollTop = y + 18 - holder.clientHeight;
      }
    };

    function draw() {
      const {profile, before} = sources[Number(source.value)];
      diff = Boolean(before);
      widthLabel.hidden = !diff;
      widthLabel.style.display = diff ? '' : 'none';
      const index = Number(type.value);
      unit = profile.types[index].unit;
      const labels = root.value ? root.value.split(',') : [];
      let data = treeOf(profile, index, labels);
      if (diff) {
        const otherIndex = before.types.findIndex((t) => t.type === profile.types[index].type);
        data = diffTree(treeOf(before, otherIndex, labels), data, width.value);
      } else {
        data = plainTree(data);
      }
      sortTree(data);
      total = data.value;
      if (chart) chart.destroy();
      holder.replaceChildren();
      chosen = null;
      details.replaceChildren();
      chart = flamegraph.default().width(Math.max(300, holder.clientWidth - 2)).cellHeight(18).inverted(true).minFrameSize(1)
          .transitionDuration(0).getName((d) => (d.data.label ? d.data.name : shortName(d.data.name)))
          .setColorMapper(colorOf).setLabelHandler((d) => d.data.name).onHover(describe).onClick(mark)
          .setDetailsHandler(() => {})
          .setSearchMatch((d, term) => Boolean(term) && d.data.name.toLowerCase().includes(term.toLowerCase()))
          .setSearchHandler((results, matched, all) => { found.textContent = all ? `${results.length} frames, ${digits(100 * matched / all, 3)} % (${format(matched, unit)})` : ''; });
      d3.select(holder).datum(data).call(chart);
      keys.replaceChildren(...(diff
        ? [['more', 'hsl(14 85% 60%)'], ['unchanged', '#d9dde2'], ['less', 'hsl(214 80% 60%)']].map(([name, c]) => el('span', {class: 'chip', style: `--chip: ${c}; font-weight: 400`}, name))
        : FAMILIES.map(([, name, c]) => el('span', {class: 'chip', style: `--chip: ${c}; font-weight: 400`}, name))));
      if (search.value) chart.search(search.value); else found.textContent = `${format(total, unit)} in all`;
    }
    function fill() {
      const {profile} = sources[Number(source.value)];
      type.replaceChildren(...profile.types.map((t, i) => option(i, `${t.type} (${t.unit})`)));
      type.value = String(profile.default);
      const labels = [...new Set(profile.labels.flatMap((set) => Object.keys(set)))].sort();
      const kept = root.options.length ? root.value : 'phase';
      const combined = ['phase,store', 'phase,msg_type', 'phase,thread_role'].filter((pair) => pair.split(',').every((key) => labels.includes(key)));
      root.replaceChildren(option('', 'calls only'), ...[...labels, ...combined].map((key) => option(key, key.replace(',', ', then '))));
      root.value = [...root.options].some((o) => o.value === kept) ? kept : labels.includes('phase') ? 'phase' : '';
      draw();
    }
    source.addEventListener('change', fill);
    for (const control of [type, root, width]) control.addEventListener('change', draw);
    search.addEventListener('input', () => {
      if (search.value) return chart.search(search.value);
      chart.clear();
      found.textContent = `${format(total, unit)} in all`;
    });
    search.addEventListener('keydown', (event) => { if (event.key === 'Enter') { event.preventDefault(); holder.focus(); } });
    reset.addEventListener('click', () => { chart.resetZoom(); });
    holder.addEventListener('keydown', (event) => {
      const top = d3.select(holder).datum();
      const visible = (d) => d && !d.data.hide && d.x1 > d.x0;
      const sibling = (step) => {
        if (!chosen || !chosen.parent) return null;
        const line = d3.select(holder).selectAll('g.frame').data().filter((d) => d.depth === chosen.depth && visible(d)).sort((a, b) => a.x0 - b.x0);
        return line[line.indexOf(chosen) + step];
      };
      const targets = {
        ArrowDown: () => (chosen ? (chosen.children || []).filter(visible)[0] : top), ArrowUp: () => chosen && chosen.parent,
        ArrowRight: () => (chosen ? sibling(1) : top), ArrowLeft: () => sibling(-1), Home: () => top,
      };
      if (event.key in targets) {
        const target = targets[event.key]();
        if (target) mark(target);
      } else if (event.key === 'Enter' && chosen) { chart.zoomTo(chosen); mark(chosen); }
      else if (event.key === 'Escape') { chart.resetZoom(); if (chosen) mark(top); }
      else return;
      event.preventDefault();
    });
    let drawnWidth = 0;
    new ResizeObserver(() => {
      if (!chart || Math.abs(holder.clientWidth - drawnWidth) < 4) return;
      drawnWidth = holder.clientWidth;
      chart.width(Math.max(300, drawnWidth - 2)).update();
    }).observe(holder);
    fill();
    drawnWidth = holder.clientWidth;
  }

  // ---- the rest -----------------------------------------------------------------------------------------

  function provenance() {
    const element = section('runs', 'Where this comes from', null, 'Runs');
    for (const [i, {report}] of RUNS.entries()) {
      const shown = Object.fromEntries(['tool', 'recording', 'host', 'options', 'outcome', 'blocks_verified', 'blocks_measured', 'app_hash', 'app_hash_chain', 'digests'].map((key) => [key, report[key]]));
      element.append(el('details', {open: false}, el('summary', {}, runChip(i)), el('pre', {tabindex: '0'}, JSON.stringify(shown, null, 2))));
    }
  }

  intro();
  headline();
  blockTimes();
  cpu();
  memory();
  database();
  slowest();
  stores();
  messages();
  beside();
  flames();
  provenance();
  document.getElementById('footer').append(`Made by blockreplay ${DATA.tool.version} (${DATA.tool.revision}). Plots: uPlot (MIT). Flame graphs: d3-flame-graph (Apache-2.0), D3 (ISC). No part of this page comes from a network.`);
  document.title = PAIR ? `${RUNS[0].name} against ${RUNS[1].name} – blockreplay` : `${RUNS[0].report.recording.chain_id} ${RUNS[0].report.recording.first}–${RUNS[0].report.recording.last} – blockreplay`;
  document.documentElement.dataset.ready = 'true';
})();
