import * as client from 'ausd-credit-client'

globalThis.client = client
