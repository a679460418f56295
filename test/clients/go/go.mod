module example.org/story

go 1.24

require github.com/oapi-codegen/runtime v1.9.0
