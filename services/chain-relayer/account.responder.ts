import { type Hex, hashMessage } from 'viem'
import { type Answering, answering } from '#shared/bus/serve'
import { AuthorizationCheck, ChainAccount, ChainHold, SignatureCheck } from '#shared/messages/chain'
import { ok, refuse } from '#shared/refusals'
import { readHold } from './hold'
import { canonical } from './order'
import { type Desk, unlessUnreadable } from './questions'
import { refusalOfSigner } from './send'
import { acceptedByContract } from './signature'
import { signerFacts } from './signer-facts'

/** Questions that only read. */
export const readAnswers = (desk: Desk): Answering[] => [
  answering(ChainAccount, ({ wallet }) =>
    unlessUnreadable(desk.log, async () => ok(await desk.account(wallet))),
  ),
  answering(ChainHold, ({ refId }) =>
    unlessUnreadable(desk.log, async () => {
      const hold = await readHold(desk, refId)
      return hold ? ok(hold) : refuse('chain_unavailable')
    }),
  ),
  answering(AuthorizationCheck, ({ authorization }) =>
    unlessUnreadable(desk.log, async () => {
      const signed = canonical(authorization)
      const refused = refusalOfSigner(await signerFacts(desk, signed), signed)
      return refused ? refuse(refused) : ok({})
    }),
  ),
  answering(SignatureCheck, ({ wallet, text, signature }) =>
    unlessUnreadable(desk.log, async () => {
      if (!/^0x([0-9a-fA-F]{2}){1,4096}$/.test(signature)) return ok({ valid: false })
      const digest = hashMessage(text)
      const valid = await acceptedByContract(desk.node, wallet as Hex, digest, signature as Hex)
      return ok({ valid })
    }),
  ),
]
