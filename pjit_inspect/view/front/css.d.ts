// esbuild hands a stylesheet over as text (`--loader:.css=text`).
declare module "*.css" {
  const text: string;
  export default text;
}
