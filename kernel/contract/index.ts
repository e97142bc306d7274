export * from './engine.ts';
export * from './hooks.ts';
export * from './notify.ts';
export * from './plugin.ts';
export * from './provider.ts';
export * from './store.ts';
export * from './tool.ts';
export * from './turn.ts';
