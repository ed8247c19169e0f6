// asl-validator ships no types.
declare module "asl-validator" {
  type Options = { checkPaths?: boolean; checkArn?: boolean };
  type Result = { isValid: boolean; errors: unknown[]; errorsText(separator?: string): string };
  /** Adds defaults to the definition that it is given. */
  export default function aslValidator(definition: unknown, options?: Options): Result;
}
