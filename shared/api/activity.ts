import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { ActivityItem } from '#shared/messages/activity'

export const GetActivity = route({
  method: 'GET',
  path: '/me/activity',
  access: 'signed',
  body: null,
  answer: Type.Object(
    {
      inFlight: Type.Array(ActivityItem, {
        description:
          'All items not yet onchain or not yet confirmed by the provider, newest first, on every ' +
          'page. A payment in state `held` is onchain, so it is not listed.',
      }),
      items: Type.Array(ActivityItem, {
        description: 'One page of all items, newest first, including those in flight.',
      }),
      nextCursor: Type.Union([Type.String(), Type.Null()], {
        description: '`cursor` of the next page; null on the last page.',
      }),
    },
    { title: 'ActivityPage', description: 'One page of activity, and everything in flight.' },
  ),
})

/** Tells of changes, as server-sent events. */
export const GetEvents = route({
  method: 'GET',
  path: '/me/events',
  access: 'signed',
  body: null,
  answer: Type.String(),
})

export const GetActivityItem = route({
  method: 'GET',
  path: '/me/activity/:id',
  access: 'signed',
  body: null,
  answer: Type.Object(
    {
      ...ActivityItem.properties,
      inFlight: Type.Boolean({
        description: 'Whether it is not yet onchain, or not yet confirmed by the provider.',
      }),
    },
    { title: 'SingleItem', description: 'An item, and whether it is in flight.' },
  ),
})
