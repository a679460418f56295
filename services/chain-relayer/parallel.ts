/** Works on the items, so many at a time; the answers keep their order. A rejection rejects all. */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnceMax: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const answers: R[] = new Array(items.length)
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const mine = next++
      answers[mine] = await work(items[mine]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, worker))
  return answers
}
