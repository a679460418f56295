/**
 * Variables without JavaScriptCore's last optimizing compiler, which costs processes of minutes a tenth to a fifth of
 * their time (measured).
 */
export const forShortRuns: Readonly<Record<string, string>> = { BUN_JSC_useFTLJIT: 'false' }
