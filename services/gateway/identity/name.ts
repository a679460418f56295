import { type Handler, handler } from '#platform/bus/serve'
import { within } from '#platform/deadline'
import { VerifiedName } from '#shared/messages/identity'
import { ok, refuse } from '#shared/refusals'
import type { Context } from '../context'
import { findOwnRefs } from './link.store'

/** Time to wait for the provider, in ms: shorter than payments waits, so that its checkout is not opened too late. */
const providerMs = 1_000

/** Answers with the name that the identity provider has, which is neither stored nor logged. */
export const answerVerifiedName = ({
  database,
  provider,
  log,
}: Pick<Context, 'database' | 'provider' | 'log'>): Handler =>
  handler(VerifiedName, async ({ wallet }) => {
    const find = async () => {
      const ownRefs = provider.hasForeignInquiries
        ? await database.read((db) => findOwnRefs(db, wallet))
        : new Set<string>()
      return provider.findName(wallet, ownRefs)
    }
    try {
      return ok({ name: await within(find(), providerMs, 'the identity provider') })
    } catch (error) {
      // The error has no name: its message is about the status or the form of a response.
      log.warn({ err: error, wallet }, 'verified name not available')
      return refuse('payer_name_unavailable')
    }
  })
