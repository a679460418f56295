import type { Guard } from './race'

// What is taken out of the statements on their way to Postgres, to see that an order goes wrong then.

const advisory = /pg_advisory_xact_lock\((hashtextextended\((?:[^()]|\([^()]*\))*\))\)/g

/** One transaction at a time decides about what is locked by name, and about a row. */
export const locks: Guard = {
  name: 'the locks',
  without: (text) => text.replace(advisory, '$1').replace(/ for update$/, ''),
}

/** Without several at once, where each of them alone suffices. */
export const together = (...guards: readonly Guard[]): Guard => ({
  name: guards.map(({ name }) => name).join(', '),
  without: (text) => guards.reduce((edited, guard) => guard.without(edited), text),
  ...{ drop: guards.flatMap(({ drop }) => drop ?? [])[0] },
})

/** An update names the state that it leaves. */
export const states: Guard = {
  name: 'the state that an update leaves',
  without: (text) =>
    text
      .replace(/"payments"\."payments"\."state" = any\((\$\d+)\)/, '$1::text[] is not null')
      .replace(/ and "payouts"\."payouts"\."state" in \(([^)]*)\)/, (_, list: string) =>
        list
          .split(',')
          .map((value) => ` and ${value.trim()}::text is not null`)
          .join(''),
      ),
}

/** A message is done once: its row in the inbox. */
export const inbox: Guard = {
  name: 'the inbox',
  without: (text) =>
    text.replace(
      /insert into "payments"\."inbox" as held[\s\S]*?returning 1/,
      'select $1::text where $2::text is not null',
    ),
}

/** A signed transfer has one cash-out: another is looked for before, and there is a unique key. */
export const authorizations: Guard = {
  name: 'the look for another cash-out of the same transfer, its unique key',
  without: (text) =>
    text.replace(
      /"payouts"\."authorization_nonce" = (\$\d+)/,
      `"payouts"."authorization_nonce" = $1 || '?'`,
    ),
  drop: 'alter table payouts.payouts drop constraint payouts_authorization',
}

/** A quote that was taken is a row of its own, and there is one of it. */
export const takings: Guard = {
  name: 'the row of a taken quote',
  without: (text) =>
    text.replace(
      /insert into [^ ]*quotes_taken[\s\S]*returning id/,
      'select $1::uuid id where $2::text is not null and $3::timestamptz <= $4::timestamptz',
    ),
}

/** An operation is assigned from `waiting` alone. */
export const waiting: Guard = {
  name: 'that an operation waits when it is assigned',
  without: (text) =>
    text.startsWith('update "chain_relayer"."operation" set "state"')
      ? text.replace(/"chain_relayer"\."operation"\."state" = (\$\d+)/, '$1::text is not null')
      : text,
}

/** Of two verdicts on a wallet one is assigned, and not while another one is. */
export const verdicts: Guard = {
  name: 'the look for another verdict that is under way',
  without: (text) =>
    text.startsWith('update "chain_relayer"."operation" set')
      ? text.replace(/other\.state = 'assigned'/, 'false')
      : text,
}

/** Two verdicts that are assigned at once see each other. */
export const walletLocks: Guard = {
  name: 'the lock of the wallet',
  without: (text) => text.replace('pg_advisory_xact_lock(word)', 'word'),
}

/** A lane is taken when its lease has ended. */
export const leases: Guard = {
  name: 'the end of the lease before',
  without: (text) => text.replace(/"leased_until" <= now\(\)/, '"leased_until" is not null'),
}

/** A lane gives out nonces to whom it is leased to. */
export const epochs: Guard = {
  name: 'holder and epoch of the lane',
  without: (text) =>
    text
      .replace(
        /"chain_relayer"\."lane"\."holder" = (\$\d+) and "chain_relayer"\."lane"\."epoch" = (\$\d+)/,
        '$1::text is not null and $2::bigint is not null',
      )
      .replace(/"leased_until" > now\(\)/, '"leased_until" is not null'),
}

/** One order has one operation, by its cause and by its id, which is made of it. */
export const onceByCause: Guard = {
  name: 'the unique keys of an operation',
  without: (text) => text,
  drop: `alter table chain_relayer.operation
    drop constraint operation_once, drop constraint operation_pkey`,
}

/** Rows that another transaction is about to take are passed over. */
export const skips: Guard = {
  name: 'for update skip locked',
  without: (text) => text.replace(/for update skip locked/, ''),
}

/** One settlement of a wallet is open: the index behind the lock of the wallet. */
export const openSettlements: Guard = {
  name: 'the unique index of open settlements',
  without: (text) => text,
  drop: 'drop index payments.payments_open_settlement',
}
