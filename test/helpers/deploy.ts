import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Plain, yaml } from './yaml';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export const documents = (name: string): Plain[] => yaml(readFileSync(`${root}deploy/${name}`, 'utf8'));

/** `deploy/compose.yaml` as Docker Compose reads it with these variables. */
export function compose(variables: Readonly<Record<string, string>>): Plain {
  const filled = (text: string) =>
    text.replace(/\$\{(\w+)(:[-?])([^}]*)\}/g, (_, name, kind, rest) => {
      if (!variables[name] && kind === ':?') throw new Error(`${name}: ${rest}`);
      return variables[name] || rest;
    });
  return JSON.parse(JSON.stringify(documents('compose.yaml')[0]), (_, value) =>
    typeof value === 'string' ? filled(value) : value,
  );
}

export function manifest(kind: string): Plain {
  return documents('kubernetes.yaml').find((one) => one.kind === kind);
}

export function deployedEnv(): Record<string, string> {
  const [container] = manifest('Deployment').spec.template.spec.containers;
  return Object.fromEntries(container.env.map(({ name, value }: Plain) => [name, value]));
}
