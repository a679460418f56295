import type { ControlAction } from '#infra/local/controls/deed'
import { deedsOfOutside } from '#infra/local/controls/external'
import { deedsOfPeople } from '#infra/local/controls/people'
import { deedsOfProcesses } from '#infra/local/controls/processes'
import type { StackFile } from '#infra/local/stack-file'
import type { Supervised } from '#infra/local/supervisor'
import { serviceNames } from '#shared/messages/topic'

const serviceProcess = new RegExp(`^(${serviceNames.join('|')})(-\\d+)?$`)

export async function deedsOf(stack: StackFile, all: readonly Supervised[]): Promise<ControlAction[]> {
  return [
    ...deedsOfPeople(stack),
    ...(await deedsOfOutside(stack)),
    ...deedsOfProcesses(all.filter(({ name }) => serviceProcess.test(name))),
  ]
}
