import { sql } from 'drizzle-orm'
import { answerErasure } from '#platform/bus/erasing'
import { quotedList, textList } from '#platform/db/columns'
import { isBefore, withDeadLetters } from '#platform/db/erasure'
import { personErasures } from '#shared/messages/person'
import { accountChecks } from '../account-check/check.store'
import { inFlightStates } from '../cashout'
import { lockWallet } from '../cashout.store'
import { cashouts } from '../cashout.table'
import type { Context } from '../context'
import { deadLetters } from '../schema.store'

const isOpen = sql`(state in (${quotedList(inFlightStates)}) or next_check_at is not null)`

export const erasure = withDeadLetters(
  deadLetters,
  (wallet) => sql`select ${wallet}
    union all select unnest(array[id, provider_payout_id]) from ${cashouts} where wallet = ${wallet}`,
  {
    lock: lockWallet,
    onItsWay: (wallet) => sql`select 'cash-out ' || id || case when state in (${quotedList(
      inFlightStates,
    )}) then ' is ' || state else ' is still watched' end as why
      from ${cashouts} where wallet = ${wallet} and ${isOpen}`,
    empty: (wallet, repeated) => {
      // After a restore, a finished item may be open again. Its payout is then found by reference, without
      // the bank account, before another is ordered.
      const isEnded = repeated ? isBefore('created_at', repeated) : sql`not ${isOpen}`
      const isPaid = sql`(state = 'paid' and not ${isOpen} or id = any(${textList(repeated?.paidCashouts ?? [])}))`
      return [
        // The law wants to know for years whom a bank paid. The pruning empties it then.
        sql`update ${cashouts} set bank_details = '', bank_details_key_id = 'erased', channel_code = ''
          where wallet = ${wallet} and (bank_details_key_id <> 'erased' or channel_code <> '')
            and ${isEnded} and not ${isPaid}`,
        // Without its mark an account is shown to nobody, and counts for no limit.
        sql`update ${cashouts} set account_mark = null
          where wallet = ${wallet} and account_mark is not null and ${isEnded}`,
        sql`update ${accountChecks} set request_mark = '', account_mark = ''
          where wallet = ${wallet} and account_mark <> ''`,
      ]
    },
  },
)

export const answerErase = (context: Context) => answerErasure(context, personErasures.payouts, erasure)
