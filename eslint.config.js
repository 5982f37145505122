import eslint from '@eslint/js';
import { importX } from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

/** Layers from the lowest up; each may import itself and what `mayImport` names (CONTRIBUTING.md, layout). */
const layers = {
  fabric: [],
  cards: ['fabric'],
  router: ['fabric', 'cards'],
  agents: ['fabric', 'cards', 'router'],
  keeper: ['fabric', 'cards'],
  cli: ['fabric', 'cards', 'router', 'agents', 'keeper'],
};

/** Inside the fabric: adapters and use cases know ports and domain, and nothing of each other. */
const fabricParts = {
  domain: [],
  ports: ['domain'],
  queue: ['domain', 'ports'],
  embedded: ['domain', 'ports'],
  kanboard: ['domain', 'ports'],
  /** What people do on the board, as use cases of the queue: the one place that knows both. */
  people: ['domain', 'ports', 'queue', 'kanboard'],
  remote: ['domain', 'ports'],
  telemetry: ['domain', 'ports'],
};

/** One zone a part: everything beside it under `base` is forbidden except what it may import. */
const zonesOf = (parts, base) =>
  Object.entries(parts)
    .map(([part, mayImport]) => ({
      target: `${base}${part}`,
      from: Object.keys(parts)
        .filter((other) => other !== part && !mayImport.includes(other))
        .map((other) => `${base}${other}`),
      message: `${base}${part} may import only ${[part, ...mayImport].join(', ')}. Move the shared thing down, or pass it in.`,
    }))
    .filter(({ from }) => from.length > 0);

const layerZones = [
  ...zonesOf(layers, './'),
  ...zonesOf(fabricParts, './fabric/'),
  {
    target: Object.keys(layers).map((layer) => `./${layer}`),
    from: ['./test', './bench', './scripts'],
    message: 'Production code never imports tests, benchmarks or scripts.',
  },
];

/** Time, chance and the environment belong to one adapter each; everything else is given a port. */
const ownedProperties = [
  { object: 'Date', property: 'now', message: 'Take a Clock (fabric/ports/clock.ts).' },
  { object: 'Math', property: 'random', message: 'Take a Random (fabric/ports/random.ts).' },
  { object: 'process', property: 'env', message: 'Only cli/config.ts reads the environment.' },
  { object: 'process', property: 'hrtime', message: 'Take a Clock (fabric/ports/clock.ts).' },
];
const ownedSyntax = [
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'A Date without arguments reads the time. Take a Clock (fabric/ports/clock.ts).',
  },
  {
    selector: "CallExpression[callee.name='Date']",
    message: 'Date() reads the time. Take a Clock (fabric/ports/clock.ts).',
  },
  {
    selector:
      'ImportDeclaration[source.value=/^(node:)?(process|perf_hooks)$/] > ImportSpecifier[imported.name=/^(env|hrtime|performance)$/]',
    message: 'Take a Clock, or a slice of the configuration (cli/config.ts).',
  },
];

const production = Object.keys(layers).map((layer) => `${layer}/**/*.{ts,tsx}`);

export default tseslint.config(
  { ignores: ['dist/', '.build/', '.services/', '.mesh/', 'coverage/', '**/node_modules/'] },
  eslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { 'import-x': importX },
    settings: {
      // Without these two, no-cycle does not follow TypeScript files at all.
      'import-x/extensions': ['.ts', '.tsx'],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts', '.tsx'] },
    },
    rules: {
      'import-x/no-cycle': 'error',
      'import-x/no-restricted-paths': [
        'error',
        { basePath: import.meta.dirname, zones: layerZones },
      ],
      'no-console': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
    },
  },
  {
    files: production,
    rules: {
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-restricted-properties': ['error', ...ownedProperties],
      'no-restricted-syntax': ['error', ...ownedSyntax],
      'no-restricted-globals': [
        'error',
        { name: 'performance', message: 'Take a Clock (fabric/ports/clock.ts).' },
      ],
    },
  },
  {
    // The adapters that own what the block above forbids.
    files: [
      'cli/config.ts',
      'fabric/telemetry/system-clock.ts',
      'fabric/telemetry/system-random.ts',
    ],
    rules: {
      'no-restricted-properties': 'off',
      'no-restricted-syntax': 'off',
      'no-restricted-globals': 'off',
    },
  },
  {
    files: ['test/**/*.{ts,tsx}', 'bench/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-empty-function': 'off',
    },
  },
  {
    // A benchmark's product is what it prints.
    files: ['bench/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: {
      ecmaVersion: 2024,
      sourceType: 'module',
      globals: {
        process: 'readonly',
        Buffer: 'readonly',
        URL: 'readonly',
        AbortSignal: 'readonly',
        AbortController: 'readonly',
        fetch: 'readonly',
        performance: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
      },
    },
    rules: { 'no-console': 'error', eqeqeq: 'error' },
  },
);
