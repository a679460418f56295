export { repositoryDir } from '#infra/local/folders'
