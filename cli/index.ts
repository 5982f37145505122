/**
 * What the package offers to programs: a mesh wired from a home, its Card type and its error type. All
 * else is reached over A2A.
 */
export { Card } from '../cards/schema/card.ts';
export { MeshError, type MeshErrorCode } from '../fabric/domain/errors.ts';
export { composeMesh, type ComposeOptions, type Mesh } from './compose.ts';
export { loadConfig, loadEnvironment, type Environment, type MeshConfig } from './config.ts';
export { homePaths, type HomePaths } from './home.ts';
