// testhost is a small Cosmos SDK node without a consensus engine: baseapp with auth, bank and consensus parameters, on goleveldb with
// state-sync snapshots, that starts the streaming plugin as every node of the SDK does (the environment variable COSMOS_SDK_ABCI).
//
// What consensus would decide follows from the height alone, so that a block executed again after kill -9 is the same block. For each
// committed block it appends "<height> <app hash in hex>" to a file: the oracle of the test.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"

	"cosmossdk.io/log"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
)

const chainID = "testhost-1"

var genesisTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// options are what app.toml would say.
type options map[string]any

func (o options) Get(key string) any { return o[key] }

var _ servertypes.AppOptions = options{}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "testhost:", err)
		os.Exit(1)
	}
}

func main() {
	home := flag.String("home", "", "folder of the node")
	to := flag.Int64("to", 100, "height to stop at")
	interval := flag.Uint64("snapshot-interval", 50, "blocks between snapshots")
	empty := flag.Bool("empty-store", false, "mount a store that nothing writes to")
	stopOnErr := flag.Bool("stop-node-on-err", false, "as in app.toml")
	logLevel := flag.String("log-level", "info", "of the plugin's logger")
	pause := flag.Duration("pause", 0, "time between blocks")
	flag.Parse()

	logger := log.NewLogger(os.Stderr)
	app, err := newApp(filepath.Join(*home, "data"), *interval, *empty, logger)
	check(err)
	check(app.RegisterStreamingServices(options{
		"log_level":                       *logLevel,
		"streaming":                       map[string]any{"abci": map[string]any{}},
		"streaming.abci.plugin":           "abci",
		"streaming.abci.keys":             []string{"*"},
		"streaming.abci.stop-node-on-err": *stopOnErr,
	}, app.keys))
	check(app.load())

	hashes, err := os.OpenFile(filepath.Join(*home, "app_hashes"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	check(err)
	if app.LastBlockHeight() == 0 {
		genesis, err := app.genesis()
		check(err)
		check(writeGenesis(filepath.Join(*home, "genesis.json"), genesis))
		_, err = app.InitChain(genesis)
		check(err)
	}
	stdout := bufio.NewWriter(os.Stdout)
	for height := app.LastBlockHeight() + 1; height <= *to; height++ {
		response, err := app.FinalizeBlock(app.block(height))
		check(err)
		_, err = app.Commit()
		check(err)
		_, err = fmt.Fprintf(hashes, "%d %s\n", height, hex.EncodeToString(response.AppHash))
		check(err)
		fmt.Fprintln(stdout, height)
		check(stdout.Flush())
		time.Sleep(*pause)
	}
	check(app.Close()) // waits for a snapshot that is being made
}

// writeGenesis writes what InitChain was asked as CometBFT's genesis document.
func writeGenesis(path string, request *abci.RequestInitChain) error {
	document, err := json.Marshal(map[string]any{
		"genesis_time":   request.Time.Format(time.RFC3339Nano),
		"chain_id":       request.ChainId,
		"initial_height": fmt.Sprint(request.InitialHeight),
		"app_hash":       "",
		"app_state":      json.RawMessage(request.AppStateBytes),
		"consensus_params": map[string]any{
			"block":     map[string]any{"max_bytes": "4194304", "max_gas": "-1"},
			"evidence":  map[string]any{"max_age_num_blocks": "100000", "max_age_duration": "172800000000000", "max_bytes": "1048576"},
			"validator": map[string]any{"pub_key_types": []string{"ed25519"}},
			"version":   map[string]any{"app": "0"},
			"abci":      map[string]any{"vote_extensions_enable_height": "0"},
		},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(path, document, 0o644)
}
