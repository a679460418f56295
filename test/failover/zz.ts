import { natsFailover } from './nats'

await natsFailover()
