import type { Database } from '#shared/db/open'
import { type Cursor, rememberGenesis } from './cursor.store.ts'
import type { Endpoint } from './endpoint.ts'
import { RpcFault } from './rpc-fault.ts'

/** Throws `RpcFault` if the endpoint is not the chain that this generation was read from. */
export async function identifyAs(database: Database, cursor: Cursor, endpoint: Endpoint) {
  const genesis = await endpoint.identify()
  if (cursor.genesisHash === null) {
    await database.read((db) => rememberGenesis(db, cursor.generation, genesis))
  } else if (cursor.genesisHash !== genesis) {
    throw new RpcFault('broken', 'the endpoint is another chain than the projection: rebuild it')
  }
}
