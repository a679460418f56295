/**
 * Settings of Bun 1.4.5 for processes that mostly wait, which the Dockerfile sets as well. Without JavaScriptCore's last
 * optimizing compiler, and with ten seconds between two of mimalloc's searches for memory to give back, a top-up took
 * 43 ms of processor time where it took 47, and 112 were credited a second where there were 96; the largest process grew
 * from 149 to 191 MB (measured).
 */
export const runtimeSettings: Readonly<Record<string, string>> = {
  BUN_JSC_useFTLJIT: 'false',
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '10000',
}
