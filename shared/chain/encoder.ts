import {
  type Abi,
  type AbiStateMutability,
  type ContractFunctionArgs,
  type ContractFunctionName,
  encodeFunctionData,
  type Hex,
  prepareEncodeFunctionData,
} from 'viem'

type ArgsOf<A extends Abi, Name extends ContractFunctionName<A>> = ContractFunctionArgs<A, AbiStateMutability, Name>
type Encode<A extends Abi> = <Name extends ContractFunctionName<A>>(functionName: Name, args: ArgsOf<A, Name>) => Hex

/**
 * Returns an encoder of calls, without support for overloads. viem would look the function up and hash its signature
 * for each call.
 */
export function encoderOf<const A extends Abi>(abi: A): Encode<A> {
  const prepared = new Map<string, object>()
  return (functionName, args) => {
    const found = prepared.get(functionName) ?? prepareEncodeFunctionData({ abi, functionName } as never)
    prepared.set(functionName, found)
    return encodeFunctionData({ ...found, args } as never)
  }
}
