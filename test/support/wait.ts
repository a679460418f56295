export { waitUntil } from '#infra/local/wait'
