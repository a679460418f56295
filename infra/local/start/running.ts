import { banner } from '#infra/local/banner'
import { readStackFile, type StackFile } from '#infra/local/stack-file'
import { bunRun } from '#infra/local/start/command'
import type { FolderTaken } from '#infra/local/start/folder-owner'

export const answers = async (stack: StackFile | undefined): Promise<boolean> => {
  if (!stack) return false
  const health = fetch(`${stack.gateway}/health`, { signal: AbortSignal.timeout(2_000) })
  return health.then(({ ok }) => ok).catch(() => false)
}

export async function describeRunning({ dir, owner }: FolderTaken): Promise<string> {
  const stack = await fileOf(dir)
  const by = owner ? `process ${owner.pid}, since ${owner.since}` : 'another process'
  if (owner?.isEnding)
    return `The stack in ${dir} is shutting down (${by}). Nothing was changed.\nTry again in a moment.`
  const whole = `To stop it: press Ctrl-C in its terminal${owner ? `, or kill ${owner.pid}` : ''}.`
  const other = `To run a second one: LOCAL_DIR=${dir}-2 ${bunRun} start`
  const advice = `${whole}\n${other}`
  if (!stack)
    return `A stack is starting in ${dir} (${by}). Nothing was changed.\nIts terminal shows when it is ready.\n${advice}`
  const heading = `A stack is already running here (${by}). Nothing was changed.`
  const silent = `Its gateway does not respond at ${stack.gateway}: see ${dir}/logs.\n`
  return `${banner(stack, { dir, heading })}\n${(await answers(stack)) ? '' : silent}${advice}`
}

async function fileOf(dir: string): Promise<StackFile | undefined> {
  try {
    return readStackFile(dir)
  } catch {
    return undefined
  }
}
