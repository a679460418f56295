/** One sample of what `/metrics` shows. */
export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The samples of a text in Prometheus' format 0.0.4. */
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

/** All that a stack measures now. */
export const scrape = async (stack: { info: { ops: { gateway: string } } }): Promise<Sample[]> =>
  samplesIn(await (await fetch(`${stack.info.ops.gateway}/metrics`)).text())

/** The value of the first sample of that name with these labels among its own; undefined: there is none. */
export const valueIn = (
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined =>
  samples.find(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([key, said]) => sample.labels[key] === said),
  )?.value
