import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { ActivityItem } from '#shared/messages/activity'

/** What happened, a page at a time, and all that is in flight. */
export const GetActivity = route({
  method: 'GET',
  path: '/me/activity',
  access: 'signed',
  body: null,
  answer: Type.Object(
    {
      inFlight: Type.Array(ActivityItem, {
        description:
          'Everything not yet onchain or not yet confirmed by the provider, newest first, whatever the ' +
          'page. Money that is `held` is onchain, so it is not here.',
      }),
      items: Type.Array(ActivityItem, {
        description: 'One page of all items, newest first; what is in flight is among them too.',
      }),
      nextCursor: Type.Union([Type.String(), Type.Null()], {
        description: '`cursor` of the next page; null on the last.',
      }),
    },
    { title: 'ActivityPage', description: 'One page, and everything that is in flight.' },
  ),
})
