// pebble-to-goleveldb copies every key of a PebbleDB folder into a new goleveldb folder, which
// `blockreplay import` can read. The source is opened read-only and not written to.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

const (
	cacheBytes = 64 << 20
	batchBytes = 4 << 20
	// Behind the target's name until all of it is there.
	incomplete = ".incomplete"
)

func main() {
	flags := flag.NewFlagSet("pebble-to-goleveldb", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), `Usage: pebble-to-goleveldb [--no-verify] [--quiet] SOURCE TARGET

Copies every key of the PebbleDB folder SOURCE into the new goleveldb folder TARGET.
SOURCE is not written to; TARGET must not exist. Then both are read and compared.

`)
		flags.PrintDefaults()
	}
	noVerify := flags.Bool("no-verify", false, "do not read TARGET again and compare")
	quiet := flags.Bool("quiet", false, "no progress")
	if err := flags.Parse(os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(0)
		}
		os.Exit(1)
	}
	if flags.NArg() != 2 {
		flags.Usage()
		os.Exit(1)
	}
	if err := convert(flags.Arg(0), flags.Arg(1), !*noVerify, *quiet); err != nil {
		fmt.Fprintln(os.Stderr, "pebble-to-goleveldb: error:", err)
		os.Exit(1)
	}
}

// What was copied, so that two passes can be compared.
type tally struct {
	keys  uint64
	bytes uint64
	sum   hash.Hash
}

func newTally() *tally { return &tally{sum: sha256.New()} }

func (t *tally) add(key, value []byte) {
	var sizes [16]byte
	binary.BigEndian.PutUint64(sizes[:8], uint64(len(key)))
	binary.BigEndian.PutUint64(sizes[8:], uint64(len(value)))
	t.sum.Write(sizes[:])
	t.sum.Write(key)
	t.sum.Write(value)
	t.keys++
	t.bytes += uint64(len(key) + len(value))
}

func (t *tally) equals(other *tally) bool {
	return t.keys == other.keys && bytes.Equal(t.sum.Sum(nil), other.sum.Sum(nil))
}

// checkSource says what a folder is that is no PebbleDB: opening one would say less.
func checkSource(source string) error {
	if info, err := os.Stat(source); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", source)
	}
	if _, err := os.Stat(filepath.Join(source, "CURRENT")); err != nil {
		return fmt.Errorf("%s is not a database (no file CURRENT)", source)
	}
	options, err := filepath.Glob(filepath.Join(source, "OPTIONS-*"))
	if err != nil {
		return err
	}
	for _, name := range options {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if strings.Contains(string(text), "pebble_version") {
			return nil
		}
		return fmt.Errorf("%s is a RocksDB, which blockreplay reads as it is", source)
	}
	return fmt.Errorf("%s is not a PebbleDB (no file OPTIONS-*): a goleveldb is read as it is", source)
}

func absent(path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, incomplete) {
		return fmt.Errorf("%s is there, of a conversion that did not end: delete it", path)
	}
	return fmt.Errorf("%s exists already", path)
}

func convert(source, target string, verify, quiet bool) (err error) {
	source, target = filepath.Clean(source), filepath.Clean(target)
	if err := checkSource(source); err != nil {
		return err
	}
	unfinished := target + incomplete
	if err := errors.Join(absent(target), absent(unfinished)); err != nil {
		return err
	}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	from, err := pebble.Open(source, &pebble.Options{
		Cache:    cache,
		FS:       readOnlyFS{vfs.Default},
		ReadOnly: true,
		Logger:   silent{},
	})
	if err != nil {
		return fmt.Errorf("%s cannot be opened: %w", source, err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()

	copied, err := copyInto(from, unfinished, newProgress(source, quiet))
	if err != nil {
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	if verify {
		if err := compare(unfinished, copied, newProgress(target+", comparing", quiet)); err != nil {
			return err
		}
	}
	if err := os.Rename(unfinished, target); err != nil {
		return err
	}
	fmt.Printf("%s: %d keys, %d bytes of keys and values, SHA-256 %x\n", filepath.Base(target), copied.keys,
		copied.bytes, copied.sum.Sum(nil))
	return nil
}

func copyInto(from *pebble.DB, target string, progress *progress) (total *tally, err error) {
	to, err := leveldb.OpenFile(target, &opt.Options{ErrorIfExist: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	it, err := from.NewIter(nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	total = newTally()
	batch := new(leveldb.Batch)
	pending := 0
	flush := func(sync bool) error {
		defer batch.Reset()
		pending = 0
		return to.Write(batch, &opt.WriteOptions{Sync: sync})
	}
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		batch.Put(it.Key(), value)
		total.add(it.Key(), value)
		pending += len(it.Key()) + len(value)
		if pending >= batchBytes {
			if err := flush(false); err != nil {
				return nil, err
			}
			progress.show(total)
		}
	}
	if err := errors.Join(it.Error(), flush(true)); err != nil {
		return nil, err
	}
	progress.done(total)
	return total, nil
}

// compare reads a target from its files and says if it is not what was copied.
func compare(target string, copied *tally, progress *progress) error {
	db, err := leveldb.OpenFile(target, &opt.Options{ReadOnly: true, Strict: opt.StrictAll})
	if err != nil {
		return err
	}
	defer db.Close()
	it := db.NewIterator(nil, nil)
	defer it.Release()
	found := newTally()
	for it.Next() {
		found.add(it.Key(), it.Value())
		progress.show(found)
	}
	if err := it.Error(); err != nil {
		return err
	}
	progress.done(found)
	if !found.equals(copied) {
		return fmt.Errorf("%s has %d keys that are not the %d of the source: delete it, and look at "+
			"the disk", target, found.keys, copied.keys)
	}
	return nil
}

// A line on standard error every other second.
type progress struct {
	what  string
	quiet bool
	last  time.Time
}

func newProgress(what string, quiet bool) *progress {
	return &progress{what: what, quiet: quiet, last: time.Now()}
}

func (p *progress) show(t *tally) {
	if time.Since(p.last) >= 2*time.Second {
		p.done(t)
	}
}

func (p *progress) done(t *tally) {
	if p.quiet {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(os.Stderr, "%s: %d keys, %d MB\n", p.what, t.keys, t.bytes>>20)
}

// Pebble reports what it does by itself; errors come back from the calls.
type silent struct{}

func (silent) Infof(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "pebble-to-goleveldb: error: "+format+"\n", args...)
	os.Exit(1)
}
