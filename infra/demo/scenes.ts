import type { Address } from 'viem'
import type { ExternalControls } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Timeline } from '#infra/demo/timeline'
import type { StackFile } from '#infra/local/stack-file'
import { waitUntil } from '#infra/local/wait'
import { okOf } from '#shared/client/client'
import { moneyText } from '#shared/money/text'

const everyMs = 100

export type Scene = { person: Person; outside: ExternalControls; stack: StackFile; line: Timeline }

export async function identityScene({ person, outside, line }: Scene) {
  line.chapter('1. Identity')
  line.say(`a new wallet signs in: ${person.wallet}`)
  const before = await line.during('signing in', person.me())
  line.say(`verified: ${before.verified}, native coin: ${before.balance.native} wei`)
  await outside.identity(person.wallet, 'approved')
  line.say('the identity provider approves and sends a signed webhook')
  const verified = person.until(
    'the verification',
    (seen) => seen.verified && BigInt(seen.balance.native) > BigInt(before.balance.native) && seen,
  )
  const me = await line.during('recording the verification on chain, dripping gas', verified)
  line.say(`verified on chain, native coin for gas received: ${me.balance.native} wei`)
}

const lockRate = async ({ person: { api }, line }: Pick<Scene, 'person' | 'line'>) =>
  okOf(await line.during('locking a rate', api.quote('USD/IDR')))

export async function topupScene({ person, outside, line }: Scene) {
  line.chapter('2. Top-up by QRIS')
  const quote = await lockRate({ person, line })
  line.say(`rate locked for 60 s: ${moneyText(quote.rate, 'IDR')} per dollar`)
  const asked = { amount: '500000', method: 'qr', quoteId: quote.id } as const
  const checkout = okOf(await line.during('opening the checkout', person.api.topUp(asked)))
  line.say(`checkout open for ${moneyText(checkout.fiat, 'IDR')}: ${checkout.checkoutUrl}`)
  await outside.pay(checkout.paymentId, 'QRIS')
  line.say('paid by QRIS; the provider sends two webhooks, in any order')
  const credited = person.api.waitFor(checkout.paymentId, { everyMs })
  await line.during('checking with the provider, then crediting on chain', credited)
  const me = okOf(await person.api.me())
  line.say(`collateral ${moneyText(me.collateral.value, 'AUSD')}, limit ${moneyText(me.limit, 'AUSD')}`)
}

export async function drawScene({ person, line }: Scene, title = '3. Draw'): Promise<bigint> {
  line.chapter(title)
  const micro = BigInt((await person.me()).limit) / 2n
  await line.during('mining the draw', person.draw(micro))
  const drawn = person.until('the draw', (seen) => seen.drawn !== '0' && seen)
  const me = await line.during('waiting for finality', drawn)
  line.say(`drew ${moneyText(me.drawn, 'AUSD')} directly from the contract, paying its own gas`)
  return micro
}

export async function settlementScene({ person, outside, line }: Scene) {
  line.chapter('4. Settlement')
  const quote = await lockRate({ person, line })
  const settled = person.api.settle({ quoteId: quote.id })
  const checkout = okOf(await line.during('opening the checkout', settled))
  line.say(`${moneyText(checkout.fiat, 'IDR')} pays the debt of ${moneyText(checkout.ausd, 'AUSD')}, rounded up`)
  await outside.pay(checkout.paymentId, 'BCA_VIRTUAL_ACCOUNT')
  const repaid = person.api.waitFor(checkout.paymentId, { everyMs })
  await line.during('checking with the provider, then repaying on chain', repaid)
  const me = okOf(await person.api.me())
  line.say(`nothing is owed, ${me.cycles} cycle closed, score ${me.score}`)
}

export async function cashoutScene({ person, line, stack }: Scene) {
  line.chapter('6. Cash-out to a bank')
  const quote = await lockRate({ person, line })
  const authorization = await person.sign({
    to: stack.chain.treasury as Address,
    valueMicro: 3_000_000n,
  })
  const bank = {
    channelCode: 'ID_BCA',
    accountNumber: '1234567890',
    accountHolderName: 'Sari Dewi',
  }
  const asked = person.api.cashOut({ quoteId: quote.id, authorization, bank })
  const order = okOf(await line.during('placing the order', asked))
  line.say(`${moneyText(order.ausd, 'AUSD')} will pay out ${moneyText(order.fiat, 'IDR')}, payout ${order.payoutId}`)
  const onStatus = ({ status }: { status: string }) => line.say(`payout: ${status}`)
  const paid = person.api.waitFor(order.payoutId, { everyMs, onStatus })
  await line.during('taking the AUSD, then paying the bank account', paid)
}

export async function recordScene({ person, line, stack }: Scene) {
  line.chapter('7. Public record')
  const closed = waitUntil('indexer-reader to see the closed cycle', async () => {
    const body = okOf(await person.api.record(person.wallet))
    return body.history?.cycleCount === body.cycles && body
  })
  const { score, cycles, history } = await line.during('indexing the chain', closed)
  const outcome = history?.cycles.find((cycle) => cycle.outcome)?.outcome
  line.say(`public and without a name: score ${score}, ${cycles} cycle closed (${outcome})`)
  line.say(`${stack.gateway}/verify/${person.wallet}`)
}
