CREATE TABLE "chain_relayer"."cursor" (
	"name" text PRIMARY KEY NOT NULL,
	"next_block" numeric(78,0) NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
