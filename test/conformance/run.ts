import { conform } from './conform'

process.exitCode = await conform(process.argv.slice(2), process.env, (text) => console.log(text))
