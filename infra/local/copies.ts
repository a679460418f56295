import { connect, RequestStrategy } from 'nats'
import type { ServiceName } from '#shared/messages/topic'

export const copyName = (service: string, copy: number): string => (copy === 1 ? service : `${service}-${copy}`)

export async function missingCopies(
  bus: { url: string; password: string },
  services: readonly ServiceName[],
  copies: number,
): Promise<ServiceName[]> {
  const nc = await connect({
    servers: bus.url.split(','),
    user: 'admin',
    pass: bus.password,
    inboxPrefix: '_INBOX_admin',
    reconnect: false,
    timeout: 2_000,
  })
  try {
    const asked = { strategy: RequestStrategy.Timer, maxWait: 300 }
    const seen: string[] = []
    for await (const reply of await nc.requestMany('$SRV.PING', '', asked))
      seen.push(reply.json<{ name: string }>().name)
    return services.filter((name) => seen.filter((one) => one === name).length < copies)
  } finally {
    await nc.close()
  }
}
