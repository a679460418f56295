import type { Route } from '../route'
import { notice } from './layout'

/** Where a local stack without an app sends people back to. */
export const appRoute: Route = {
  method: 'GET',
  path: '/app',
  run() {
    const text = 'A real deployment leads back to the app from here. You can close this page.'
    return notice({ title: 'You are back', sign: '←', tone: 'quiet', text })
  },
}
