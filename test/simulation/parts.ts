import { plugin } from 'bun'
import { replaced } from './stand-ins'

// Replaces the modules that have stand-ins before they are loaded. All else is the services' code.

plugin({
  name: 'simulation',
  setup: (build) => {
    for (const { path, from, names } of replaced) {
      const filter = new RegExp(`${path.replaceAll(/[.+]/g, '\\$&')}$`)
      build.onLoad({ filter }, () => ({
        contents: [
          `export * from ${JSON.stringify(`${path}?own`)}`,
          `export { ${names.join(', ')} } from ${JSON.stringify(from)}`,
        ].join('\n'),
        loader: 'ts',
      }))
    }
  },
})
