import type { Bus } from '#platform/bus/open'
import type { Log } from '#platform/log'
import { type Loop, startLoop } from '#platform/loop'
import { topics } from '#shared/messages/catalogue'
import { streamAlarmPercent } from '../config'

const names = [...new Set<string>(topics.map(({ stream }) => stream)), 'ADVISORIES', 'KV_rates']

/** Usage of a stream, in bytes. */
export type StreamFigures = { bytes: number; bytesMax: number; usedPercent: number }

export async function readStreams({ nc }: Bus): Promise<Record<string, StreamFigures>> {
  const manager = await nc.jetstreamManager({ checkAPI: false, timeout: 1_000 })
  const figures = names.map(async (name) => {
    const { state, config } = await manager.streams.info(name)
    const bytesMax = Math.max(0, config.max_bytes) // The value is -1 if the stream has no limit.
    const usedPercent = bytesMax === 0 ? 0 : Math.floor((state.bytes * 100) / bytesMax)
    return [name, { bytes: state.bytes, bytesMax, usedPercent }] as const
  })
  return Object.fromEntries(await Promise.all(figures))
}

/** Alerts once per stream until it has room again. */
export function watchStreams(options: { bus: Bus; log: Log; everyMs: number }): Loop {
  const { bus, log, everyMs } = options
  const called = new Set<string>()
  const look = async () => {
    for (const [stream, figures] of Object.entries(await readStreams(bus))) {
      if (figures.usedPercent < streamAlarmPercent) called.delete(stream)
      else if (!called.has(stream)) {
        called.add(stream)
        log.alarm({ stream, ...figures }, 'stream nearly full')
      }
    }
  }
  return startLoop({ name: 'streams', everyMs, log, work: look })
}
