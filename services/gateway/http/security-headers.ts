/** On every answer, unless the route chose its own. */
export const securityHeaders = (overTls: boolean): Record<string, string> => ({
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'no-store',
  ...(overTls ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
})
