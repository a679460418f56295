import { answerErasure } from '#platform/bus/erasing'
import { answerPause } from '#platform/bus/pausing'
import { type Handler, handler } from '#platform/bus/serve'
import {
  DisputeCharge,
  LossGivenBack,
  PaymentTakenBack,
  RefundGiveUp,
  TopupRefund,
  TopupsPause,
  topupsIn,
  WalletClear,
  WalletFreeze,
  WalletReclaim,
} from '#shared/messages/payments'
import { personErasures } from '#shared/messages/person'
import { ok } from '#shared/refusals'
import type { Context } from '../context'
import { nameCharge } from '../incoming/dispute'
import { clearWallet, freezeByOperator, reclaimCleared, recordGivenBack } from '../losses/reversal'
import { pauses } from '../schema.store'
import { erasure } from './erase'
import { giveUpRefund } from './give-up'
import { refundCredited } from './refund-credited'
import { answerResolve } from './resolve'
import { recordTakenBack } from './taken-back'
import { worthOfClear, worthOfGivenBack, worthOfTakenBack, worthOfTopupRefund } from './worth'

export const answerOperatorCommands = (context: Context): Handler[] => [
  answerResolve(context),
  handler(
    WalletClear,
    async ({ wallet, ...asked }) => ok(await clearWallet(context, wallet, asked)),
    worthOfClear(context),
  ),
  handler(WalletReclaim, async ({ wallet, ...asked }) => ok(await reclaimCleared(context, wallet, asked))),
  handler(WalletFreeze, async ({ wallet, ...asked }) => ok(await freezeByOperator(context, wallet, asked))),
  handler(
    LossGivenBack,
    async ({ paymentId, ...asked }) => ok(await recordGivenBack(context, paymentId, asked)),
    worthOfGivenBack(context),
  ),
  handler(PaymentTakenBack, async (asked) => ok(await recordTakenBack(context, asked)), worthOfTakenBack(context)),
  handler(TopupRefund, async (asked) => ok(await refundCredited(context, asked)), worthOfTopupRefund(context)),
  handler(RefundGiveUp, async (asked) => ok(await giveUpRefund(context, asked))),
  handler(DisputeCharge, async (asked) => ok(await nameCharge(context, asked))),
  answerPause(context, { question: TopupsPause, table: pauses, what: 'topups', inCountry: topupsIn }),
  answerErasure(context, personErasures.payments, erasure),
]
