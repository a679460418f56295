import { banner } from '#infra/local/banner'
import { readStackFile, type StackFile } from '#infra/local/stack-file'
import type { FolderTaken } from '#infra/local/start/folder-owner'

/** Whether the stack's gateway answers; a stack of which nothing is known does not. */
export const answers = async (stack: StackFile | undefined): Promise<boolean> => {
  if (!stack) return false
  const health = fetch(`${stack.gateway}/health`, { signal: AbortSignal.timeout(2_000) })
  return health.then(({ ok }) => ok).catch(() => false)
}

/** What runs in a folder that a second start was asked for, and how to reach it. */
export async function describeRunning({ dir, owner }: FolderTaken): Promise<string> {
  const stack = await fileOf(dir)
  const by = owner ? `process ${owner.pid}, since ${owner.since}` : 'another process'
  if (owner?.isEnding)
    return `The stack in ${dir} is just ending (${by}). Nothing was changed.\nStart again in a moment.`
  const whole = `To end it: Ctrl-C where it runs${owner ? `, or kill ${owner.pid}` : ''}.`
  const beside = `For a second one beside it: LOCAL_DIR=${dir}-2 bun run start`
  const advice = `${whole}\n${beside}`
  if (!stack)
    return `A stack is being started in ${dir} (${by}). Nothing was changed.\nIts own terminal says when it is ready.\n${advice}`
  const heading = `A stack runs here already (${by}). Nothing was changed.`
  const silent = `Its gateway does not answer at ${stack.gateway}: see ${dir}/logs.\n`
  return `${banner(stack, { dir, heading })}\n${(await answers(stack)) ? '' : silent}${advice}`
}

async function fileOf(dir: string): Promise<StackFile | undefined> {
  try {
    return readStackFile(dir)
  } catch {
    return undefined
  }
}
