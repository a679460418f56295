import type { ControlAction } from '#infra/local/controls/action'
import { externalActions } from '#infra/local/controls/external'
import { peopleActions } from '#infra/local/controls/people'
import { processActions } from '#infra/local/controls/processes'
import type { StackFile } from '#infra/local/stack-file'
import type { Supervised } from '#infra/local/supervisor'
import { serviceNames } from '#shared/messages/topic'

const serviceProcess = new RegExp(`^(${serviceNames.join('|')})(-\\d+)?$`)

export async function actionsOf(stack: StackFile, all: readonly Supervised[]): Promise<ControlAction[]> {
  return [
    ...peopleActions(stack),
    ...(await externalActions(stack)),
    ...processActions(all.filter(({ name }) => serviceProcess.test(name))),
  ]
}
