import type { Alerts } from '../alert'

export const chain = {
  EndpointFails: {
    severity: 'ticket',
    means: 'Another endpoint is used, if configured.',
    steps: 'If it stays, replace the endpoint in `RPC_URLS`, then `dc up -d`.',
    command: 'dc logs --since 10m chain-relayer',
    ends: 'fewer than half of its calls fail',
    access: ['host'],
    rule: {
      summary: '{{ $labels.endpoint }} fails {{ $value | humanizePercentage }} of its calls',
      expr: 'sum by (endpoint) (rate(ausd_rpc_call_duration_seconds_count{outcome="failed"}[5m])) / sum by (endpoint) (rate(ausd_rpc_call_duration_seconds_count[5m])) > 0.5',
      for: '5m',
      fires: {
        'ausd_rpc_call_duration_seconds_count{endpoint="e",outcome="failed"}': '0+6',
        'ausd_rpc_call_duration_seconds_count{endpoint="e",outcome="ok"}': '0+4',
      },
      quiet: {
        'ausd_rpc_call_duration_seconds_count{endpoint="e",outcome="failed"}': '0+1',
        'ausd_rpc_call_duration_seconds_count{endpoint="e",outcome="ok"}': '0+9',
      },
    },
  },
  EndpointRefuses: {
    severity: 'ticket',
    means: "`RPC_REQUESTS_PER_SECOND` exceeds the endpoint's limit for this address.",
    steps: 'Lower it, then `dc up -d`.',
    command: 'look metrics',
    ends: 'the endpoint refuses no more than 5 calls in 10 min',
    access: ['host'],
    rule: {
      summary: '{{ $labels.endpoint }} rate-limits our calls',
      expr: 'sum by (endpoint) (increase(ausd_rpc_rate_limited_total[10m])) > 5',
      for: '1m',
      fires: { 'ausd_rpc_rate_limited_total{endpoint="e"}': '0+1' },
      quiet: { 'ausd_rpc_rate_limited_total{endpoint="e"}': '3' },
    },
  },
  LaneBlocked: {
    severity: 'page',
    means: 'The chain has transactions of its key that the tables lack: old backup, or another user of the key.',
    steps: 'See "lane is blocked" in [daily.md](daily.md).',
    command: 'ops status',
    ends: 'the tables account for every transaction of the key',
    access: ['ops', 'owner'],
    inStatus: true,
    log: { source: 'services/chain-relayer', lines: ['lane is blocked: '] },
    rule: {
      summary: 'Lane {{ $labels.lane }} is blocked',
      expr: 'max by (lane) (ausd_lane_blocked) == 1',
      for: '1m',
      fires: { 'ausd_lane_blocked{lane="0"}': '1' },
      quiet: { 'ausd_lane_blocked{lane="0"}': '0' },
    },
  },
  LaneBalanceLow: {
    severity: 'page',
    steps:
      'Send it native coin: transactions in flight at their maximum fees, plus `LANE_MIN_BALANCE_WEI` and `LANE_REFILL_WEI`.',
    command: 'ops status',
    ends: 'its balance is above both',
    access: ['ops', 'funds'],
    inStatus: true,
    log: {
      source: 'services/chain-relayer',
      lines: [
        'lane needs a refill',
        'lane balance too low for new transactions: fund it',
        'lane balance too low for a fee bump: fund it',
        'lane balance too low for drips: fund it',
      ],
    },
    rule: {
      summary: 'Lane {{ $labels.lane }} needs native coin',
      expr: 'max by (lane) (ausd_lane_low) > 0',
      for: '5m',
      fires: { 'ausd_lane_low{lane="0"}': '1' },
      quiet: { 'ausd_lane_low{lane="0"}': '0' },
    },
  },
  RecordBehind: {
    severity: 'ticket',
    means: 'Its RPC endpoints are slow, or its budget is too small.',
    steps: 'Compare the lag with the calls that its endpoints refuse or fail.',
    command: 'look metrics | grep ausd_record_',
    ends: 'the record is less than a minute behind',
    access: ['host'],
    rule: {
      summary: 'The public record is {{ $value | humanizeDuration }} behind the chain',
      expr: 'min(ausd_record_lag_seconds) > 60',
      for: '5m',
      fires: { ausd_record_lag_seconds: '90' },
      quiet: { ausd_record_lag_seconds: '1' },
    },
  },
  EndpointMisplaced: {
    severity: 'ticket',
    steps:
      'The service uses its other endpoints. Correct or remove `endpoint` in `RPC_URLS`, then `dc up -d`. If `reason` names a block at another endpoint, one of the two serves another history: compare both with a block explorer. If every endpoint is named, see `reason`: `CHAIN_ID`, `GENESIS_HASH` or an address is of another chain ([Contracts](deploy.md#7-contracts)).',
    ends: 'the endpoint serves our chain',
    access: ['host'],
    log: { source: 'shared', lines: ['endpoint serves another chain, not used'] },
  },
  BlockOld: {
    severity: 'page',
    steps:
      'An endpoint does not respond, and the others lag, the chain stands still, or the clock of Postgres is wrong. Lanes that are not leased yet give out no nonce.',
    ends: 'a recent block is read, or every endpoint responds',
    access: ['host'],
    log: {
      source: 'services/chain-relayer',
      lines: ['newest block is old, lanes wait: check RPC_URLS and the clock'],
    },
  },
  ChainHalted: {
    severity: 'page',
    steps: 'Check the chain and the endpoints.',
    ends: 'a new block is read',
    access: ['host'],
    log: {
      source: 'services/chain-relayer',
      lines: ['chain head has not advanced', 'chain head has not advanced, fee bumps paused'],
    },
  },
  FeesAboveCap: {
    severity: 'page',
    steps: 'Pay the higher fees (`BASE_FEE_CAP_WEI`), or stop chain-relayer.',
    ends: 'the base fee is below the cap',
    access: ['host'],
    log: { source: 'services/chain-relayer', lines: ['base fee above its cap'] },
  },
  TransactionNotAccepted: {
    severity: 'page',
    steps: 'If `unfunded`, fund the lane; the relayer corrects the rest.',
    ends: 'an endpoint accepts it',
    access: ['funds'],
    log: { source: 'services/chain-relayer', lines: ['transaction not accepted'] },
  },
  OperationBlocked: {
    severity: 'page',
    steps:
      'Fund the treasury, renew its allowance, end the pause, or grant the role. If the issuer of AUSD froze the treasury, the credit line or every lane, only the issuer can end the freeze; replace a frozen lane as under `LaneFrozen`.',
    ends: 'the chain would accept the operation, which is tried again automatically',
    access: ['funds', 'admin'],
    log: {
      source: 'services/chain-relayer',
      lines: ['operation blocked: treasury, pause, freeze or role'],
    },
  },
  LaneFrozen: {
    severity: 'page',
    steps:
      'The token refuses calls of `lane`, so other lanes send its transactions; nothing is lost. Ask the issuer (Agora) for the reason and to end the freeze. If it does not, [replace the key](secrets.md#a-lane-key-is-stolen).',
    ends: 'the issuer ends the freeze, or another key replaces it',
    access: ['host', 'admin', 'funds'],
    log: { source: 'services/chain-relayer', lines: ['lane frozen by the issuer of AUSD'] },
  },
  LaneKeyLeaked: {
    severity: 'page',
    steps: 'The key has leaked: [replace it](secrets.md#a-lane-key-is-stolen).',
    ends: null,
    access: ['host', 'admin', 'funds'],
    log: { source: 'services/chain-relayer', lines: ['lane key used by another sender'] },
  },
  PolicyRefused: {
    severity: 'page',
    steps:
      "An order above a limit. If it is legitimate, raise the limit in `why`, or wait for the next UTC day. Otherwise change the ordering service's password, then `update chain_relayer.operation set state = 'failed' where id = … and state = 'waiting'`.",
    ends: 'the limits allow the order, or it is failed',
    access: ['host', 'owner'],
    log: {
      source: 'services/chain-relayer',
      lines: ['policy refused an operation, needs manual review'],
    },
  },
  FeeBumpRefused: {
    severity: 'ticket',
    steps: 'Raise the limit that was lowered below a transaction in flight.',
    ends: 'the limit allows the fee',
    access: ['host'],
    log: { source: 'services/chain-relayer', lines: ['policy refused a fee bump'] },
  },
  GasBudgetSpent: {
    severity: 'ticket',
    steps: 'Inspect the code at its address; it is refused until midnight in Jakarta.',
    ends: 'the next day begins',
    access: [],
    log: { source: 'services/chain-relayer', lines: ['wallet exceeded its daily gas budget'] },
  },
  OperationFailed: {
    severity: 'page',
    steps: 'The row has the reason; nothing is retried.',
    ends: null,
    access: ['ops'],
    log: { source: 'services/chain-relayer', lines: ['operation reverted permanently', 'operation failed'] },
  },
  NonceUseUnknown: {
    severity: 'page',
    steps: 'Search the explorer for the lane, or for `AuthorizationUsed` of the wallet and nonce.',
    ends: 'an endpoint shows the transaction',
    access: ['host'],
    log: {
      source: 'services/chain-relayer',
      lines: ['nonce used but no receipt found', 'authorization use not found'],
    },
  },
  TransfersUnread: {
    severity: 'ticket',
    steps: 'Check the endpoints; nothing is lost.',
    ends: 'the endpoints respond',
    access: ['host'],
    log: {
      source: 'services/chain-relayer',
      lines: ['treasury transfer scan is lagging', 'giveback check failed, will retry'],
    },
  },
  TakeUsedElsewhere: {
    severity: 'ticket',
    steps: 'The wallet signed the nonce twice: check which AUSD that transaction moved.',
    ends: null,
    access: ['ops'],
    log: {
      source: 'services/chain-relayer',
      lines: ['authorization of a failed take used elsewhere'],
    },
  },
  GivebackNotOwed: {
    severity: 'ticket',
    steps:
      "`why` has the reason. To end it: `update chain_relayer.operation set state = 'failed' where id = … and state = 'waiting'`.",
    ends: 'it is owed again, or failed',
    access: ['owner'],
    log: { source: 'services/chain-relayer', lines: ['giveback no longer owed'] },
  },
} as const satisfies Alerts
