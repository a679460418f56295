import { consumers, heartbeatSubject, streams } from '#infra/nats/topology'
import { instanceSubject, instancesSubject, leftSubject } from '#platform/bus/instances'
import { metricsSubject } from '#platform/metrics/answer'
import { questions, topics } from '#shared/messages/catalogue'
import { newsSubject } from '#shared/messages/events'
import { feedSubject } from '#shared/messages/operations'
import { type BusUser, type ProcessName, processNames, type Question, serviceNames } from '#shared/messages/topic'

/** Subjects and their reason. `why` becomes the comment in users.gen.conf. */
export type Grant = { readonly why: string; readonly subjects: readonly string[] }

/** Rights of a user. nats-server refuses everything else. */
export type Rights = { readonly publish: readonly Grant[]; readonly subscribe: readonly Grant[] }

export const rightsOf = (user: BusUser): Rights => ({
  publish: [
    ...messagesOf(user),
    ...otherCopiesOf(user),
    ...readingOf(user),
    ...withoutMessage[user],
    ...leavingOf(user),
  ].filter(isGiven),
  subscribe: [
    inboxOf(user),
    ...(user === 'gateway' ? [whoLeft, feed, news] : []),
    ...(user === 'operations' ? [whoLeft] : []),
    heardBy(user),
    answersOf(user),
    ...copyOf(user),
    presenceOf(user),
    measuresOf(user),
  ].filter(isGiven),
})

const isGiven = ({ subjects }: Grant) => subjects.length > 0

function messagesOf(user: BusUser): Grant[] {
  // guard: only payments orders a credit
  const said = topics.filter(({ publishers }) => publishers.some((name) => name === user))
  const asked = questions.filter(({ askers }) => askers.some((name) => name === user))
  return [
    { why: 'Messages it publishes.', subjects: said.map(({ subject }) => subject) },
    { why: 'Requests it sends.', subjects: asked.map(({ subject }) => subject) },
  ]
}

const isRepeated = ({ repeat }: Question) => repeat !== undefined

function otherCopiesOf(user: BusUser): Grant[] {
  const repeated = questions.filter(isRepeated).filter(({ askers }) => askers.some((name) => name === user))
  const owners = new Set<ProcessName>(repeated.map(({ owner }) => owner))
  const [self] = serviceNames.filter((name) => name === user)
  if (self) owners.add(self)
  return [
    {
      why: 'Instance discovery: the services it calls, and its own.',
      subjects: [...owners].map(instancesSubject),
    },
    {
      why: 'Requests retried at one instance when another does not respond.',
      subjects: repeated.map(({ owner, subject }) => instanceSubject(owner, '*', subject)),
    },
  ]
}

/** Returns the rights to read from consumers. Only the admin creates or changes consumers. */
const readingOf = (user: BusUser): Grant[] =>
  Object.entries(consumers)
    .filter(([, plans]) => plans.some((plan) => plan.durable_name === user))
    .map(([stream]) => ({
      why: `Its consumer on ${stream}.`,
      subjects: [
        `$JS.API.CONSUMER.INFO.${stream}.${user}`,
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${user}`,
        `$JS.ACK.${stream}.${user}.>`,
      ],
    }))

/**
 * Rights to the bucket of rates. They never include `$JS.API.DIRECT.GET`: the server sends the bare value to any reply
 * subject that the caller names, so a value in a bucket could be forged into another service's message.
 */
const rates: Grant = {
  why: 'Its bucket. Never $JS.API.DIRECT.GET: see rights.ts.',
  subjects: [
    '$KV.rates.>',
    '$JS.API.STREAM.MSG.GET.KV_rates',
    '$JS.API.INFO', // The client requests this before it opens a bucket.
  ],
}

const usageOfStreams = [
  ...streams.map(({ name }) => `$JS.API.STREAM.INFO.${name}`),
  ...Object.entries(consumers).flatMap(([stream, plans]) =>
    plans.map(({ durable_name: reader }) => `$JS.API.CONSUMER.INFO.${stream}.${reader}`),
  ),
]

/**
 * Subjects that list streams and consumers. They never include `$JS.API.CONSUMER.CREATE`, which the CLI needs to list
 * keys and page through messages, because a consumer may deliver stored messages to any subject.
 */
const lists = [
  '$JS.API.INFO',
  '$JS.API.STREAM.NAMES',
  '$JS.API.STREAM.LIST',
  ...streams.flatMap(({ name }) => [`$JS.API.CONSUMER.NAMES.${name}`, `$JS.API.CONSUMER.LIST.${name}`]),
]

const aboutInstances = (verb: string) => [`$SRV.${verb}`, `$SRV.${verb}.*`, `$SRV.${verb}.*.*`]

const news: Grant = { why: 'Wallets with something new, among its instances.', subjects: [newsSubject] }

const withoutMessage: Readonly<Record<BusUser, readonly Grant[]>> = {
  gateway: [
    news,
    {
      why: 'Collects metrics of all processes for /metrics.',
      subjects: [metricsSubject],
    },
    {
      why: 'Instance presence for /ready.',
      subjects: ['$SRV.PING', '$SRV.PING.*.*'],
    },
    {
      why: 'Stream usage, for metrics and the alert on nearly full streams.',
      subjects: streams.map(({ name }) => `$JS.API.STREAM.INFO.${name}`),
    },
    {
      why: 'Look-up of one event, to send it to the integrator again. Never $JS.API.DIRECT.GET: see rights.ts.',
      subjects: ['$JS.API.STREAM.MSG.GET.EVENTS'],
    },
  ],
  pricing: [rates],
  payments: [],
  payouts: [],
  'chain-relayer': [],
  'indexer-reader': [],
  operations: [
    { why: 'The live feed of the console.', subjects: [feedSubject] },
    {
      why: 'Proof that each stream stores messages.',
      subjects: streams.map(({ name }) => heartbeatSubject(name, '*')),
    },
    {
      why: 'Instance presence and service statistics.',
      subjects: ['$SRV.PING', '$SRV.PING.*.*', '$SRV.STATS'],
    },
    { why: 'Stream usage and consumer progress.', subjects: usageOfStreams },
    {
      why: 'Look-up of webhook deliveries of one payment. Never $JS.API.DIRECT.GET: see rights.ts.',
      subjects: ['$JS.API.STREAM.MSG.GET.WEBHOOKS'],
    },
  ],
  ops: [
    {
      why: 'Presence, description and statistics of instances.',
      subjects: ['PING', 'INFO', 'STATS'].flatMap(aboutInstances),
    },
    { why: 'Stream usage and consumer progress.', subjects: usageOfStreams },
    { why: 'Lists of streams and consumers, for the NATS CLI.', subjects: lists },
    {
      why: 'Look-up of one message. Never $JS.API.DIRECT.GET: see rights.ts.',
      subjects: streams.map(({ name }) => `$JS.API.STREAM.MSG.GET.${name}`),
    },
    { why: 'Release of a rate jump.', subjects: ['$KV.rates.release.*'] },
  ],
  console: [],
  integrator: [],
}

/**
 * Returns the rights of `console` to receive messages. It is a second connection of `operations`, because the own user
 * of `operations` answers requests, so it could answer a publisher that waits for JetStream.
 */
const heardBy = (user: BusUser): Grant => ({
  why: 'Every message, as it is published.',
  subjects: user === 'console' ? topics.map(({ subject }) => subject) : [],
})

const inboxOf = (user: BusUser): Grant => ({
  why: 'Its private inbox.',
  subjects: [`_INBOX_${user}.>`],
})

/** Default queue group of the NATS services API. */
const queue = 'q'

/**
 * Returns the rights to receive requests. They hold only in the queue group, because outside it a service could listen
 * in unnoticed.
 */
const answersOf = (user: BusUser): Grant => ({
  why: 'Requests it answers.',
  subjects: questions.filter(({ owner }) => owner === user).map(({ subject }) => `${subject} ${queue}`),
})

function copyOf(user: BusUser): Grant[] {
  const [self] = processNames.filter((name) => name === user)
  if (!self) return []
  const answered = questions.filter(isRepeated).filter(({ owner }) => owner === self)
  const why = 'Discovery of this instance, and requests sent to it directly.'
  const named = answered.map(({ subject }) => instanceSubject(self, '*', subject))
  return [{ why, subjects: [instancesSubject(self), ...named] }]
}

const leavingOf = (user: BusUser): Grant[] =>
  processNames
    .filter((name) => name === user)
    .map((self) => ({ why: 'Notice of an orderly shutdown.', subjects: [leftSubject(self)] }))
const whoLeft: Grant = {
  why: 'Shutdown notices, to distinguish them from crashes.',
  subjects: [leftSubject('*')],
}

const feed: Grant = { why: 'The live feed of the console.', subjects: [feedSubject] }

const isProcess = (user: BusUser) => processNames.some((name) => name === user)

const measuresOf = (user: BusUser): Grant => ({
  why: 'Metrics requests for /metrics.',
  subjects: isProcess(user) ? [metricsSubject] : [],
})

/** Returns the rights to register. Even the gateway registers, although it serves no requests there. */
const presenceOf = (user: BusUser): Grant => ({
  why: 'Registration with `nats micro`.',
  subjects: isProcess(user)
    ? ['PING', 'INFO', 'STATS'].flatMap((verb) => [`$SRV.${verb}`, `$SRV.${verb}.${user}`, `$SRV.${verb}.${user}.*`])
    : [],
})
