CREATE TABLE "payouts"."listings" (
	"account" text NOT NULL,
	"window" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"read_at" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "listings_account_window_pk" PRIMARY KEY("account","window")
);
