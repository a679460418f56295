import { consumers, streams } from '#infra/nats/topology'
import { copiesSubject, copySubject, leftSubject } from '#shared/bus/copies'
import { questions, topics } from '#shared/messages/catalogue'
import { type BusUser, type Question, type ServiceName, serviceNames } from '#shared/messages/topic'
import { metricsSubject } from '#shared/metrics/answer'

/** Subjects that their user needs for one thing. `why` stands over them in users.gen.conf. */
export type Grant = { readonly why: string; readonly subjects: readonly string[] }

/** All that a user may say and hear: nats-server refuses the rest. */
export type Rights = { readonly publish: readonly Grant[]; readonly subscribe: readonly Grant[] }

/** Everything that a service needs, worked out from who says, asks, answers and reads what. */
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
    ...(user === 'gateway' ? [whoLeft] : []),
    heardBy(user),
    answersOf(user),
    ...copyOf(user),
    ...figuresOf(user),
    presenceOf(user),
    measuresOf(user),
  ].filter(isGiven),
})

const isGiven = ({ subjects }: Grant) => subjects.length > 0

function messagesOf(user: BusUser): Grant[] {
  const said = topics.filter(({ publishers }) => publishers.some((name) => name === user))
  const asked = questions.filter(({ askers }) => askers.some((name) => name === user))
  return [
    { why: 'What it says.', subjects: said.map(({ subject }) => subject) },
    { why: 'What it asks.', subjects: asked.map(({ subject }) => subject) },
  ]
}

const isRepeated = ({ repeat }: Question) => repeat !== undefined

/** What it asks of another copy when one is silent; and how many copies of its own there are. */
function otherCopiesOf(user: BusUser): Grant[] {
  const repeated = questions
    .filter(isRepeated)
    .filter(({ askers }) => askers.some((name) => name === user))
  const owners = new Set<ServiceName>(repeated.map(({ owner }) => owner))
  const [self] = serviceNames.filter((name) => name === user)
  if (self) owners.add(self)
  return [
    {
      why: 'To find the copies of those it asks, and its own.',
      subjects: [...owners].map(copiesSubject),
    },
    {
      why: 'What it asks of one copy, when another is silent.',
      subjects: repeated.map(({ owner, subject }) => copySubject(owner, '*', subject)),
    },
  ]
}

/** To fetch from its own consumers and to acknowledge; making and changing them is the admin's. */
const readingOf = (user: BusUser): Grant[] =>
  Object.entries(consumers)
    .filter(([, plans]) => plans.some((plan) => plan.durable_name === user))
    .map(([stream]) => ({
      why: `Its consumer of ${stream}.`,
      subjects: [
        `$JS.API.CONSUMER.INFO.${stream}.${user}`,
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${user}`,
        `$JS.ACK.${stream}.${user}.>`,
      ],
    }))

/**
 * What pricing needs to write a key and to read a key. Never `$JS.API.DIRECT.GET`: it answers with
 * the bare value under whatever subject the asker names as its inbox, so that a value written to a
 * bucket could be sent on as somebody else's message.
 */
const rates: Grant = {
  why: 'Its bucket. Never $JS.API.DIRECT.GET: rights.ts says why.',
  subjects: [
    '$KV.rates.>',
    '$JS.API.STREAM.MSG.GET.KV_rates',
    '$JS.API.INFO', // The client asks it before it opens a bucket.
  ],
}

/** What a user publishes besides the messages of the catalogue. */
const withoutMessage: Readonly<Record<BusUser, readonly Grant[]>> = {
  gateway: [
    {
      why: 'It gathers what all processes measure, for /metrics.',
      subjects: [metricsSubject],
    },
    {
      why: 'It asks who is there, for /ready, and for their figures, for the console.',
      subjects: ['$SRV.PING', '$SRV.PING.*.*', '$SRV.STATS'],
    },
    {
      why: 'It says how full each stream is, and calls somebody.',
      subjects: streams.map(({ name }) => `$JS.API.STREAM.INFO.${name}`),
    },
  ],
  pricing: [rates],
  payments: [],
  payouts: [],
  'chain-relayer': [
    {
      why: 'It looks for copies of an earlier version, and writes nothing that they would misread.',
      subjects: ['$SRV.PING.chain-relayer'],
    },
  ],
  'indexer-reader': [],
  books: [],
  ops: [
    { why: 'Who is there, and their figures.', subjects: ['$SRV.PING', '$SRV.STATS'] },
    {
      why: 'How full each stream is, and how far each reader is.',
      subjects: [
        ...streams.map(({ name }) => `$JS.API.STREAM.INFO.${name}`),
        ...Object.entries(consumers).flatMap(([stream, plans]) =>
          plans.map(({ durable_name: reader }) => `$JS.API.CONSUMER.INFO.${stream}.${reader}`),
        ),
      ],
    },
    {
      why: 'To look up one delivery. Never $JS.API.DIRECT.GET: see above.',
      subjects: ['$JS.API.STREAM.MSG.GET.WEBHOOKS'],
    },
  ],
  console: [
    {
      why: 'How far each reader is. It asks no service anything.',
      subjects: Object.keys(consumers).map((stream) => `$JS.API.CONSUMER.LIST.${stream}`),
    },
    {
      why: 'To look for the deliveries about one payment. Never $JS.API.DIRECT.GET: see above.',
      subjects: ['$JS.API.STREAM.INFO.WEBHOOKS', '$JS.API.STREAM.MSG.GET.WEBHOOKS'],
    },
  ],
}

/** The console shows what moves: it alone hears messages as they are published, beside their readers. */
const heardBy = (user: BusUser): Grant => ({
  why: 'Every message, as it is published.',
  subjects: user === 'console' ? topics.map(({ subject }) => subject) : [],
})

const inboxOf = (user: BusUser): Grant => ({
  why: 'Its inbox, which nobody else hears.',
  subjects: [`_INBOX_${user}.>`],
})

/** The queue group of the NATS services API, which the copies of a service share. */
const queue = 'q'

/** Only in the queue group: outside of it a service could listen along unseen. */
const answersOf = (user: BusUser): Grant => ({
  why: 'What it answers.',
  subjects: questions
    .filter(({ owner }) => owner === user)
    .map(({ subject }) => `${subject} ${queue}`),
})

/** What one copy of it hears alone: who is looked for, and what another copy did not answer. */
function copyOf(user: BusUser): Grant[] {
  const [self] = serviceNames.filter((name) => name === user)
  if (!self) return []
  const answered = questions.filter(isRepeated).filter(({ owner }) => owner === self)
  const why = 'To be found and asked as one copy.'
  const named = answered.map(({ subject }) => copySubject(self, '*', subject))
  return [{ why, subjects: [copiesSubject(self), ...named] }]
}

const leavingOf = (user: BusUser): Grant[] =>
  serviceNames
    .filter((name) => name === user)
    .map((self) => ({ why: 'To say that a copy leaves in order.', subjects: [leftSubject(self)] }))
const whoLeft: Grant = { why: 'To know who is gone without a word.', subjects: [leftSubject('*')] }

/** The services API shows figures of an endpoint alone: the job of the books has this one for that. */
export const figuresSubject = 'books.figures'
const figuresOf = (user: BusUser): Grant[] =>
  user === 'books'
    ? [{ why: 'Its figures, for `nats micro stats`.', subjects: [`${figuresSubject} ${queue}`] }]
    : []

/** What each process answers about itself alone; whoever operates is no process. */
const measuresOf = (user: BusUser): Grant => ({
  why: 'To tell what it measures, for /metrics.',
  subjects: user === 'ops' || user === 'console' ? [] : [metricsSubject],
})

/**
 * Every service registers with the NATS services API, also the gateway, which answers nothing; whoever
 * operates or listens is no service.
 */
const presenceOf = (user: BusUser): Grant => ({
  why: 'To be found by `nats micro`.',
  subjects:
    user === 'ops' || user === 'console'
      ? []
      : ['PING', 'INFO', 'STATS'].flatMap((verb) => [
          `$SRV.${verb}`,
          `$SRV.${verb}.${user}`,
          `$SRV.${verb}.${user}.*`,
        ]),
})
