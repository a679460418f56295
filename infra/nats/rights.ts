import { consumers, streams } from '#infra/nats/topology'
import { questions, topics } from '#shared/messages/catalogue'
import { type ServiceName, serviceNames } from '#shared/messages/topic'

export type Right = {
  readonly subject: string
  readonly queue?: string
  readonly users: readonly ServiceName[]
}

/** A subject as it is tried: wildcards of the catalogue made concrete. */
const concrete = (subject: string) => subject.replace('.>', '.ID.delivery-1')

const durables = Object.entries(consumers).flatMap(([stream, plans]) =>
  plans.map((plan) => ({ stream, reader: plan.durable_name })),
)
const servesQuestions = (user: ServiceName) => questions.some(({ owner }) => owner === user)

const srvVerbs = ['PING', 'INFO', 'STATS']
const to = (users: readonly ServiceName[], ...subjects: string[]): Right[] =>
  subjects.map((subject) => ({ subject, users }))

/** Who may publish what, worked out from the catalogue and the topology alone. */
export const publishable: readonly Right[] = [
  ...topics.flatMap((topic) => to(topic.publishers, concrete(topic.subject))),
  ...questions.flatMap((question) => to(question.askers, question.subject)),
  ...srvVerbs.flatMap((verb) => to(['gateway'], `$SRV.${verb}`)),
  // The healthcheck of a service asks its own name, as its own user.
  ...serviceNames.filter(servesQuestions).flatMap((name) => to([name], `$SRV.PING.${name}`)),
  ...durables.flatMap(({ stream, reader }) =>
    to(
      [reader],
      `$JS.API.CONSUMER.INFO.${stream}.${reader}`,
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${reader}`,
      `$JS.ACK.${stream}.${reader}.1.1.1.1.1`,
    ),
  ),
  ...['quotes', 'rates'].flatMap((bucket) =>
    to(['pricing'], `$KV.${bucket}.key`, `$JS.API.STREAM.MSG.GET.KV_${bucket}`),
  ),
  ...to(['pricing'], '$JS.API.INFO'),
]

/** What no service may say. */
export const unpublishable: readonly string[] = [
  ...streams.flatMap(({ name }) => [
    ...['CREATE', 'UPDATE', 'DELETE', 'PURGE', 'MSG.DELETE', 'SNAPSHOT', 'RESTORE'].map(
      (verb) => `$JS.API.STREAM.${verb}.${name}`,
    ),
    `$JS.API.DIRECT.GET.${name}`,
    `$JS.API.DIRECT.GET.${name}.subject`,
    `$JS.API.STREAM.INFO.${name}`,
    `$JS.API.CONSUMER.CREATE.${name}.other.subject`,
    `$JS.API.CONSUMER.CREATE.${name}`,
  ]),
  ...durables.flatMap(({ stream, reader }) => [
    `$JS.API.CONSUMER.CREATE.${stream}.${reader}`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${reader}`,
    `$JS.API.CONSUMER.DELETE.${stream}.${reader}`,
    `$JS.API.CONSUMER.PAUSE.${stream}.${reader}`,
    `$JS.API.STREAM.MSG.GET.${stream}`,
  ]),
  ...['$JS.API.STREAM.NAMES', '$JS.API.STREAM.LIST', '$JS.API.CONSUMER.NAMES.EVENTS'],
  ...['$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.EVENTS.payments', '$SYS.REQ.SERVER.PING'],
  ...serviceNames.map((name) => `_INBOX_${name}.reply`),
  ...['webhooks.other.1', 'relay.other', 'payments.other', 'nothing.known'],
]

/** Who may subscribe to what; a question only in the queue group that its copies share. */
export const subscribable: readonly Right[] = [
  ...questions.map(({ subject, owner }) => ({ subject, queue: 'q', users: [owner] })),
  ...serviceNames.flatMap((name) => to([name], `_INBOX_${name}.reply`, `_INBOX_${name}.>`)),
  ...srvVerbs.flatMap((verb) => to(serviceNames, `$SRV.${verb}`)),
  ...srvVerbs.flatMap((verb) =>
    serviceNames.flatMap((name) =>
      to([name], `$SRV.${verb}.${name}`, `$SRV.${verb}.${name}.instance`),
    ),
  ),
]

/** What no service may hear. */
export const unsubscribable: readonly string[] = [
  ...['>', '*', '_INBOX.>', '$SRV.>', '$JS.>', '$KV.>', '$SYS.>', '$JS.EVENT.ADVISORY.>'],
  ...topics.map(({ subject }) => subject),
  ...questions.map(({ subject }) => subject), // Outside the queue group, to listen along.
]
