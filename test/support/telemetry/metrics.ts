export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Parses Prometheus' format 0.0.4. */
export const samplesIn = (text: string): Sample[] =>
  text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-zA-Z_:]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === undefined) return []
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
    return [
      {
        name,
        labels: Object.fromEntries(pairs.map(([, key, said]) => [key, said])),
        value: Number(value),
      },
    ]
  })

export const scrape = async (stack: { info: { ops: { gateway: string } } }): Promise<Sample[]> =>
  samplesIn(await (await fetch(`${stack.info.ops.gateway}/metrics`)).text())

/** Returns the value of the first sample with this name and labels. */
export const valueIn = (
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined =>
  samples.find(
    (sample) => sample.name === name && Object.entries(labels).every(([key, said]) => sample.labels[key] === said),
  )?.value
