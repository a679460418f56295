//! Executes traced transactions by Monad's gas rules, and by Ethereum's for comparison.
//!
//! Each line of standard input is one transaction as `test/support/gas.ts` writes it: call, block,
//! and the state before it. Each line of standard output is its gas, in the same order.
use monad_revm::{
    MONAD_TESTNET_CHAIN_ID, MonadBuilder, MonadCfgEnv, MonadHardfork, monad_context_with_db,
};
use revm::{
    Context, ExecuteEvm, MainBuilder, MainContext,
    bytecode::Bytecode,
    context::{BlockEnv, TxEnv, result::ExecutionResult},
    database::InMemoryDB,
    primitives::{Address, Bytes, TxKind, U256, hardfork::SpecId},
    state::AccountInfo,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fmt::Debug,
    io::{BufRead, stdin},
    str::FromStr,
};

/// Gas limit with which a call is executed to measure its use; anvil gave it the same.
const MEASURING_LIMIT: u64 = 28_000_000;
/// ERC-1967 slot of a proxy's implementation.
const IMPLEMENTATION_SLOT: &str =
    "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";

struct Account {
    balance: U256,
    nonce: u64,
    code: Bytes,
    storage: BTreeMap<U256, U256>,
}

struct Trace {
    from: Address,
    to: Address,
    data: Bytes,
    number: U256,
    timestamp: U256,
    state: BTreeMap<Address, Account>,
}

/// Gas that a call used, and the visible part of its outcome.
#[derive(PartialEq)]
struct Outcome {
    success: bool,
    logs: Vec<revm::primitives::Log>,
}

fn main() {
    let spec = MonadHardfork::from_chain_and_timestamp(MONAD_TESTNET_CHAIN_ID, u64::MAX).unwrap();
    println!("{}", json!({ "hardfork": spec.to_string() }));
    for line in stdin().lock().lines() {
        let given: Value = serde_json::from_str(&line.expect("a line")).expect("a trace as JSON");
        let mut trace = trace_of(&given);
        let (outcome, gas) = on_monad(&trace, spec, MEASURING_LIMIT).expect("a valid call");
        assert!(outcome.success, "{}: fails on Monad", given["name"]);
        let (plain, ethereum) = on_ethereum(&trace);
        assert!(
            plain == outcome,
            "{}: the two chains differ in more than gas",
            given["name"]
        );
        let least = least_limit(&trace, spec, &outcome);
        let token = parse::<Address>(&given["token"]);
        put_behind_proxy(&mut trace, token);
        let (behind, proxied) = on_monad(&trace, spec, MEASURING_LIMIT).expect("a valid call");
        assert!(
            behind == outcome,
            "{}: the proxy changes more than gas",
            given["name"]
        );
        let proxied_least = least_limit(&trace, spec, &outcome);
        println!(
            "{}",
            json!({
                "gas": gas, "least": least, "ethereum": ethereum,
                "proxied": proxied, "proxiedLeast": proxied_least,
            })
        );
    }
}

/// Executes a call by Monad's rules. Returns `None` if the limit is below the cost of any such call.
fn on_monad(trace: &Trace, spec: MonadHardfork, gas_limit: u64) -> Option<(Outcome, u64)> {
    let mut context = monad_context_with_db(database(trace));
    context.cfg = MonadCfgEnv::new_with_spec(spec).with_chain_id(MONAD_TESTNET_CHAIN_ID);
    context.block = block(trace);
    Some(outcome(
        context
            .build_monad()
            .transact(transaction(trace, gas_limit))
            .ok()?
            .result,
    ))
}

/// Executes a call by Ethereum's rules as anvil does, which shows that the trace holds all of the state.
fn on_ethereum(trace: &Trace) -> (Outcome, u64) {
    let context = Context::mainnet()
        .with_db(database(trace))
        .with_block(block(trace))
        .modify_cfg_chained(|cfg| {
            cfg.chain_id = MONAD_TESTNET_CHAIN_ID;
            cfg.tx_gas_limit_cap = Some(u64::MAX);
            cfg.set_spec_and_mainnet_gas_params(SpecId::PRAGUE);
        });
    outcome(
        context
            .build_mainnet()
            .transact(transaction(trace, MEASURING_LIMIT))
            .expect("a valid call")
            .result,
    )
}

fn outcome(result: ExecutionResult) -> (Outcome, u64) {
    let gas = result.tx_gas_used();
    (
        Outcome {
            success: result.is_success(),
            logs: result.into_logs(),
        },
        gas,
    )
}

/// Returns the smallest gas limit with which the outcome is the same.
fn least_limit(trace: &Trace, spec: MonadHardfork, outcome: &Outcome) -> u64 {
    let (mut low, mut high) = (0, MEASURING_LIMIT);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let same = on_monad(trace, spec, middle).is_some_and(|(seen, _)| seen == *outcome);
        if same { high = middle } else { low = middle }
    }
    high
}

fn database(trace: &Trace) -> InMemoryDB {
    let mut database = InMemoryDB::default();
    for (address, account) in &trace.state {
        let code = Bytecode::new_raw(account.code.clone());
        let info = AccountInfo::new(account.balance, account.nonce, code.hash_slow(), code);
        database.insert_account_info(*address, info);
        for (slot, value) in &account.storage {
            database
                .insert_account_storage(*address, *slot, *value)
                .expect("memory");
        }
    }
    database
}

/// Returns the block of a trace. The sender pays nothing, so that its balance is no part of the outcome.
fn block(trace: &Trace) -> BlockEnv {
    BlockEnv {
        number: trace.number,
        timestamp: trace.timestamp,
        gas_limit: 150_000_000,
        basefee: 0,
        ..BlockEnv::default()
    }
}

fn transaction(trace: &Trace, gas_limit: u64) -> TxEnv {
    TxEnv::builder()
        .caller(trace.from)
        .nonce(
            trace
                .state
                .get(&trace.from)
                .map_or(0, |sender| sender.nonce),
        )
        .kind(TxKind::Call(trace.to))
        .data(trace.data.clone())
        .chain_id(Some(MONAD_TESTNET_CHAIN_ID))
        .gas_limit(gas_limit)
        .gas_price(0)
        .build_fill()
}

/// Puts the token's code behind an ERC-1967 proxy, as the real token is.
fn put_behind_proxy(trace: &mut Trace, token: Address) {
    let Some(account) = trace.state.get_mut(&token) else {
        return;
    };
    let implementation = Address::repeat_byte(0x1c);
    let slot = IMPLEMENTATION_SLOT.trim_start_matches("0x");
    let proxy = format!("0x365f5f375f5f365f7f{slot}545af43d5f5f3e6036573d5ffd5b3d5ff3");
    let code = std::mem::replace(&mut account.code, proxy.parse().expect("bytecode"));
    account.storage.insert(
        IMPLEMENTATION_SLOT.parse().expect("a slot"),
        U256::from_be_slice(implementation.as_slice()),
    );
    let storage = BTreeMap::new();
    trace.state.insert(
        implementation,
        Account {
            balance: U256::ZERO,
            nonce: 1,
            code,
            storage,
        },
    );
}

fn trace_of(given: &Value) -> Trace {
    let accounts = given["state"].as_object().expect("accounts").iter();
    Trace {
        from: parse(&given["from"]),
        to: parse(&given["to"]),
        data: parse(&given["data"]),
        number: parse(&given["number"]),
        timestamp: parse(&given["timestamp"]),
        state: accounts
            .map(|(address, one)| (address.parse().expect("an address"), account_of(one)))
            .collect(),
    }
}

/// Reads an account from the trace; fields that it lacks are zero.
fn account_of(given: &Value) -> Account {
    let slots = given["storage"].as_object().into_iter().flatten();
    Account {
        balance: given["balance"]
            .as_str()
            .map_or(U256::ZERO, |one| one.parse().expect("a balance")),
        nonce: given["nonce"].as_u64().unwrap_or(0),
        code: given["code"]
            .as_str()
            .map_or(Bytes::new(), |one| one.parse().expect("bytecode")),
        storage: slots
            .map(|(slot, value)| (slot.parse().expect("a slot"), parse(value)))
            .collect(),
    }
}

fn parse<T: FromStr<Err: Debug>>(given: &Value) -> T {
    given
        .as_str()
        .expect("a text")
        .parse()
        .expect("a number, an address or bytes")
}
