// The animal store in a NestJS application, below a prefix. (Decorators are called as functions: this is JavaScript.)
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createNodeListener } from 'animal-store/node';

export const MOUNT_PATH = '/shop';

class ShopModule {}
Module({})(ShopModule);

/** Starts the application. `before` are middlewares of yours that run earlier. */
export async function listen(http, { port = 0, path = MOUNT_PATH, before = [] } = {}) {
  const app = await NestFactory.create(ShopModule, { logger: ['error'] });
  app.disable('x-powered-by');
  for (const middleware of before) app.use(middleware);
  app.use(path, createNodeListener(http)); // runs before Nest's body parsers, which would round large integers
  await app.listen(port, '127.0.0.1');
  return app.getHttpServer();
}
