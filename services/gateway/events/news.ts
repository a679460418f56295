import type { Bus } from '#platform/bus/open'
import type { Database } from '#platform/db/open'
import type { Announced } from '#platform/db/outbox.store'
import { newsSubject } from '#shared/messages/events'

/** Names wallets with something new to all instances of the gateway, because an order and a stream may be at different ones. */
export type News = {
  readonly tell: (wallet: string) => void
  readonly listen: (heard: (wallet: string) => void) => void
}

/**
 * Opens the news of orders and of this gateway's own announcements. They may be lost: each stream also looks at its wallet
 * by itself.
 */
export function openNews({ nc }: Pick<Bus, 'nc'>, database: Pick<Database, 'listen'>): News {
  const tell = (wallet: string) => {
    if (!nc.isClosed()) nc.publish(newsSubject, wallet)
  }
  database.listen((announcement) => {
    const { wallet } = (announcement as Announced).message.payload as { readonly wallet?: string }
    if (wallet) tell(wallet)
  })
  return {
    tell,
    listen: (heard) => {
      nc.subscribe(newsSubject, { callback: (error, message) => error || heard(message.string()) })
    },
  }
}
