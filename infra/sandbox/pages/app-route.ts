import type { Route } from '../route'
import { notice } from './layout'

/** Landing page for return URLs of a local stack without an app. */
export const appRoute: Route = {
  method: 'GET',
  path: '/app',
  run() {
    const text = 'In a real deployment the app opens here. You can close this page.'
    return notice({ title: 'Return to the app', sign: '←', tone: 'quiet', text })
  },
}
