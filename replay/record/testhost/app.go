package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	dbm "github.com/cosmos/cosmos-db"

	"cosmossdk.io/log"
	"cosmossdk.io/store/snapshots"
	snapshottypes "cosmossdk.io/store/snapshots/types"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/codec/address"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/std"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authkeeper "github.com/cosmos/cosmos-sdk/x/auth/keeper"
	authtx "github.com/cosmos/cosmos-sdk/x/auth/tx"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	bankkeeper "github.com/cosmos/cosmos-sdk/x/bank/keeper"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	consensuskeeper "github.com/cosmos/cosmos-sdk/x/consensus/keeper"
	consensustypes "github.com/cosmos/cosmos-sdk/x/consensus/types"
)

const (
	accounts    = 50
	txsPerBlock = 8
	denom       = "stake"
)

// notesKey is a store of our own with the writes that recorders get wrong; untouchedKey one that only genesis writes to; emptyKey one that
// nothing ever writes to, and that is a leaf of the app hash nevertheless. The SDK cannot take a snapshot with an empty store
// ("version does not exist"), so that one is there only when asked for.
const (
	notesKey     = "notes"
	untouchedKey = "untouched"
	emptyKey     = "void"
)

type testApp struct {
	*baseapp.BaseApp
	db       dbm.DB
	keys     map[string]*storetypes.KVStoreKey
	codec    codec.Codec
	txConfig client.TxConfig
	auth     authkeeper.AccountKeeper
	bank     bankkeeper.BaseKeeper
}

func account(i int64) sdk.AccAddress {
	seed := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("account"), uint64(i%accounts)))
	return seed[:20]
}

func newApp(dir string, snapshotInterval uint64, withEmptyStore bool, logger log.Logger) (*testApp, error) {
	if err := os.MkdirAll(filepath.Join(dir, "snapshots"), 0o755); err != nil {
		return nil, err
	}
	db, err := dbm.NewGoLevelDB("application", dir, nil)
	if err != nil {
		return nil, err
	}
	snapshotDB, err := dbm.NewGoLevelDB("metadata", filepath.Join(dir, "snapshots"), nil)
	if err != nil {
		return nil, err
	}
	store, err := snapshots.NewStore(snapshotDB, filepath.Join(dir, "snapshots"))
	if err != nil {
		return nil, err
	}

	registry := codectypes.NewInterfaceRegistry()
	std.RegisterInterfaces(registry)
	authtypes.RegisterInterfaces(registry)
	banktypes.RegisterInterfaces(registry)
	consensustypes.RegisterInterfaces(registry)
	cdc := codec.NewProtoCodec(registry)
	stores := []string{authtypes.StoreKey, banktypes.StoreKey, consensustypes.StoreKey, notesKey, untouchedKey}
	if withEmptyStore {
		stores = append(stores, emptyKey)
	}
	app := &testApp{
		db: db, codec: cdc,
		txConfig: authtx.NewTxConfig(cdc, authtx.DefaultSignModes),
		keys:     storetypes.NewKVStoreKeys(stores...),
	}
	app.BaseApp = baseapp.NewBaseApp("testhost", logger, db, app.txConfig.TxDecoder(),
		baseapp.SetChainID(chainID),
		baseapp.SetSnapshot(store, snapshottypes.NewSnapshotOptions(snapshotInterval, 0)))
	app.SetInterfaceRegistry(registry)
	app.SetVersion("1.0.0")
	app.SetTxEncoder(app.txConfig.TxEncoder())
	app.MountKVStores(app.keys)
	app.MountTransientStores(storetypes.NewTransientStoreKeys("transient_notes"))

	authority := authtypes.NewModuleAddress("gov").String()
	addresses := address.NewBech32Codec(sdk.GetConfig().GetBech32AccountAddrPrefix())
	params := consensuskeeper.NewKeeper(cdc, runtime.NewKVStoreService(app.keys[consensustypes.StoreKey]), authority,
		runtime.EventService{})
	app.SetParamStore(params.ParamsStore)
	app.auth = authkeeper.NewAccountKeeper(cdc, runtime.NewKVStoreService(app.keys[authtypes.StoreKey]),
		authtypes.ProtoBaseAccount, map[string][]string{"minter": {authtypes.Minter}}, addresses,
		sdk.GetConfig().GetBech32AccountAddrPrefix(), authority)
	app.bank = bankkeeper.NewBaseKeeper(cdc, runtime.NewKVStoreService(app.keys[banktypes.StoreKey]), app.auth, nil,
		authority, logger)
	banktypes.RegisterMsgServer(app.MsgServiceRouter(), bankkeeper.NewMsgServerImpl(app.bank))
	app.SetInitChainer(app.initChain)
	app.SetBeginBlocker(app.beginBlock)
	return app, nil
}

func (app *testApp) load() error { return app.LoadLatestVersion() }

func (app *testApp) genesis() (*abci.RequestInitChain, error) {
	state, err := json.Marshal(map[string]string{"supply": "1000000"})
	return &abci.RequestInitChain{
		Time: genesisTime, ChainId: chainID, InitialHeight: 1, AppStateBytes: state,
		ConsensusParams: &cmtproto.ConsensusParams{
			Block:     &cmtproto.BlockParams{MaxBytes: 4 << 20, MaxGas: -1},
			Evidence:  &cmtproto.EvidenceParams{MaxAgeNumBlocks: 100000, MaxAgeDuration: 48 * time.Hour, MaxBytes: 1 << 20},
			Validator: &cmtproto.ValidatorParams{PubKeyTypes: []string{"ed25519"}},
			Version:   &cmtproto.VersionParams{},
			Abci:      &cmtproto.ABCIParams{},
		},
	}, err
}

func (app *testApp) initChain(ctx sdk.Context, _ *abci.RequestInitChain) (*abci.ResponseInitChain, error) {
	ctx.KVStore(app.keys[untouchedKey]).Set([]byte("genesis"), []byte(chainID))
	if err := app.auth.Params.Set(ctx, authtypes.DefaultParams()); err != nil {
		return nil, err
	}
	if err := app.bank.SetParams(ctx, banktypes.DefaultParams()); err != nil {
		return nil, err
	}
	coins := sdk.NewCoins(sdk.NewInt64Coin(denom, 1000000))
	for i := int64(0); i < accounts; i++ {
		if err := app.bank.MintCoins(ctx, "minter", coins); err != nil {
			return nil, err
		}
		if err := app.bank.SendCoinsFromModuleToAccount(ctx, "minter", account(i), coins); err != nil {
			return nil, err
		}
	}
	return &abci.ResponseInitChain{}, nil
}

// beginBlock writes what is easily recorded wrongly: empty values, values that are there already, deletes of absent keys, a key
// written twice and deleted, and growing values.
func (app *testApp) beginBlock(ctx sdk.Context) (sdk.BeginBlock, error) {
	store := ctx.KVStore(app.keys[notesKey])
	height := ctx.BlockHeight()
	note := func(name string, n int64) []byte { return fmt.Appendf(nil, "%s/%06d", name, n) }
	store.Set(note("height", height), binary.BigEndian.AppendUint64(nil, uint64(height)))
	store.Set([]byte("constant"), []byte("the same in every block"))
	store.Set(note("empty", height%7), []byte{})
	store.Delete(note("absent", height))
	store.Set(note("twice", height%5), []byte("first"))
	if height%2 == 0 {
		store.Delete(note("twice", height%5))
	} else {
		store.Set(note("twice", height%5), []byte("second"))
	}
	if height > 20 {
		store.Delete(note("height", height-20))
	}
	big := make([]byte, (height%10)*1000)
	for i := range big {
		big[i] = byte(int64(i) * height)
	}
	store.Set(note("big", height%3), big)
	return sdk.BeginBlock{}, nil
}

// block is the block that consensus would have decided on at a height: sends between accounts, some of more than there is, and one
// transaction that is none.
func (app *testApp) block(height int64) *abci.RequestFinalizeBlock {
	txs := [][]byte{[]byte("not a transaction")}
	for i := int64(0); i < txsPerBlock; i++ {
		n := height*txsPerBlock + i
		amount := 1 + n%100
		if n%13 == 0 {
			amount = 1 << 40
		}
		builder := app.txConfig.NewTxBuilder()
		message := banktypes.NewMsgSend(account(n), account(n*7+3), sdk.NewCoins(sdk.NewInt64Coin(denom, amount)))
		if err := builder.SetMsgs(message); err != nil {
			panic(err)
		}
		builder.SetGasLimit(200000)
		builder.SetMemo(fmt.Sprintf("block %d, transaction %d", height, i))
		tx, err := app.txConfig.TxEncoder()(builder.GetTx())
		if err != nil {
			panic(err)
		}
		txs = append(txs, tx)
	}
	hash := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(height)))
	return &abci.RequestFinalizeBlock{
		Txs: txs, Hash: hash[:], Height: height, Time: genesisTime.Add(time.Duration(height) * 5 * time.Second),
		NextValidatorsHash: hash[:], ProposerAddress: hash[:20],
	}
}
