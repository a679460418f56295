/**
 * Personal data in responses, which clients must not store. The values occur nowhere else, so a suite can search for
 * them.
 */
export const personal = {
  firstName: 'Ratnasandboxa',
  lastName: 'Wirasandboxa',
  birthdate: '1991-04-17T00:00:00-sandboxa',
  documentNumber: '3174sandboxa0001',
} as const
